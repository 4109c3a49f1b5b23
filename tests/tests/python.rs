//! The Python package reads what the program writes. Its own tests are in `python/tests`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[expect(dead_code, reason = "the commands of other documents")]
mod documents;

use std::path::PathBuf;

use documents::{blocks, document};
use end_to_end::{PythonPackages, ScratchTarget, need, run_tool};

const SMALL: &str = "size = \"4m\"\ncache = \"buffered\"\n[[access_spec]]\nname = \"Mixed\"\n\
    line = [{ size = \"4k\", read = 70, random = 100 }]\n";

/// Path of a file of the package's sources.
fn source(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../python").join(name).display().to_string()
}

/// A store with two runs, and the record of the newest in a file.
fn bed_with_runs() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("small.toml", SMALL);
    let run = [
        "small.toml",
        "--db",
        "results.db",
        "--quiet",
        "--no-html",
        "--ramp-time",
        "0",
    ];
    let saved = [
        "--json",
        "record.json",
        "--tag",
        "nightly",
        "--iodepth",
        "1,2",
    ];
    for more in [&[][..], &saved] {
        let output = bed.measure(&[&run[..], more].concat());
        assert_eq!(output.code, 0, "{}", output.text());
    }
    bed
}

/// Executes a notebook as Jupyter does, and prints the number of its pictures.
const EXECUTE: &str = "
import nbformat, os, sys
from nbclient import NotebookClient
os.environ['PYTHONPATH'] += os.pathsep + sys.argv[2]
os.environ['PGMETER_DB'] = 'results.db'
for name in ['IPYTHONDIR', 'JUPYTER_RUNTIME_DIR', 'MPLCONFIGDIR']:
    os.environ[name] = os.path.abspath('jupyter')
notebook = nbformat.read(sys.argv[1], nbformat.NO_CONVERT)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=300, kernel_name='python3').execute()
outputs = [output for cell in notebook.cells for output in cell.get('outputs', [])]
print(sum('image/png' in output.get('data', {}) for output in outputs))
";

/// Packages that the tests below need. They are large, so one test installs them once.
const PACKAGES: [&str; 8] = [
    "ipykernel",
    "matplotlib",
    "mypy",
    "nbclient",
    "nbformat",
    "pandas",
    "pandas-stubs",
    "pytest",
];

#[test]
fn the_package_works_on_a_store_of_this_program() {
    let bed = bed_with_runs();
    let packages = need!(PythonPackages::new(bed.path(), &PACKAGES));
    // Without `-B`, the imported sources would get compiled files next to them.
    let python = |words: &[&str]| {
        let output = packages.run(bed.path(), &[&["-B"], words].concat());
        assert_eq!(output.code, 0, "{words:?}\n{}", output.text());
        output.stdout
    };
    passes_its_own_tests(&python);
    has_right_types(&python);
    runs_the_examples_of_its_guide(&python);
    runs_the_notebook(&python);
}

fn passes_its_own_tests(python: &dyn Fn(&[&str]) -> String) {
    let (settings, tests) = (source("pyproject.toml"), source("tests"));
    let tested = python(&["-m", "pytest", "-q", "-c", &settings, &tests]);
    assert!(!tested.contains("skipped"), "{tested}");
}

fn has_right_types(python: &dyn Fn(&[&str]) -> String) {
    let settings = source("pyproject.toml");
    let (package, tests) = (source("pgmeter"), source("tests"));
    let words = ["-m", "mypy", "--cache-dir=cache", "--config-file"];
    python(&[&words[..], &[&*settings, &*package, &*tests]].concat());
}

fn runs_the_examples_of_its_guide(python: &dyn Fn(&[&str]) -> String) {
    let examples = blocks(&document("docs/python.md"), "python");
    assert!(examples.len() >= 3, "{examples:?}");
    let start = "import os, sys; sys.path.append(sys.argv[1]); \
                 os.environ['PGMETER_DB'] = 'results.db'\n";
    for example in examples {
        let printed = python(&["-c", &format!("{start}{example}"), &source("")]);
        assert!(!printed.is_empty(), "{example}");
    }
}

fn runs_the_notebook(python: &dyn Fn(&[&str]) -> String) {
    let notebook = source("../contrib/notebook/results.ipynb");
    let pictures = python(&["-c", EXECUTE, &notebook, &source("")]);
    assert_eq!(pictures.trim(), "3");
}

/// Checks the syntax of all files with the oldest Python that the wheel accepts, and that of a
/// notebook without outputs.
const PARSE: &str = "
import ast, json, pathlib, sys
for path in pathlib.Path(sys.argv[1]).glob('*.py'):
    ast.parse(path.read_text(), path.name, feature_version=(3, 8))
    print(path.name)
notebook = json.load(open(sys.argv[2]))
assert notebook['nbformat'] == 4
for cell in notebook['cells']:
    if cell['cell_type'] == 'code':
        ast.parse(''.join(cell['source']))
        assert cell['outputs'] == [] and cell['execution_count'] is None
";

#[test]
fn the_package_needs_no_newer_python_than_its_wheel_says() {
    let (package, notebook) = (
        source("pgmeter"),
        source("../contrib/notebook/results.ipynb"),
    );
    let read = need!(run_tool("python3", &["-c", PARSE, &package, &notebook]));
    assert!(read.contains("__init__.py"), "{read}");
}
