//! The page: its files are in the program.

use axum::http::header::{CACHE_CONTROL, HeaderValue};

use crate::answer::{Answer, typed};

/// A file of the page.
pub(crate) struct Asset {
    pub path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

/// A part of the report's pages, whose style and charts are those of this page, too.
macro_rules! of_report {
    ($file:literal) => {
        include_str!(concat!("../../report/src/html/", $file))
    };
}

/// The style of all pages.
const BASE: &str = concat!(
    of_report!("vendor/uPlot.min.css"),
    of_report!("page/style.css")
);

/// The license asks for its text beside every copy.
const CHARTS: &str = concat!(
    "/*\n",
    of_report!("vendor/uPlot.LICENSE"),
    "*/\n",
    of_report!("vendor/uPlot.iife.min.js"),
    of_report!("page/format.js"),
    of_report!("page/palette.js"),
    of_report!("page/axes.js"),
    of_report!("page/plot.js"),
    of_report!("page/figure.js"),
    "export { color, faded, figure, figures, logTicks, redraw, sentence, show, tick };\n",
);

const fn style(path: &'static str, text: &'static str) -> Asset {
    Asset {
        path,
        kind: "text/css; charset=utf-8",
        bytes: text.as_bytes(),
    }
}

const fn script(path: &'static str, text: &'static str) -> Asset {
    Asset {
        path,
        kind: "text/javascript; charset=utf-8",
        bytes: text.as_bytes(),
    }
}

/// A module of the page's own.
macro_rules! module {
    ($name:literal) => {
        script(
            concat!("/assets/", $name),
            include_str!(concat!("../assets/", $name)),
        )
    };
}

/// Every file of the page.
pub(crate) const ASSETS: &[Asset] = &[
    Asset {
        path: "/",
        kind: "text/html; charset=utf-8",
        bytes: include_bytes!("../assets/index.html"),
    },
    style("/assets/base.css", BASE),
    style("/assets/page.css", include_str!("../assets/page.css")),
    script("/assets/charts.js", CHARTS),
    module!("acts.js"),
    module!("again.js"),
    module!("api.js"),
    module!("build.js"),
    module!("compare.js"),
    module!("course.js"),
    module!("dom.js"),
    module!("editor.js"),
    module!("events.js"),
    module!("events-worker.js"),
    module!("form.js"),
    module!("heat.js"),
    module!("labs.js"),
    module!("live.js"),
    module!("main.js"),
    module!("mix.js"),
    module!("over-time.js"),
    module!("parts.js"),
    module!("queue.js"),
    module!("run.js"),
    module!("runs.js"),
    module!("stream.js"),
    module!("tiles.js"),
    module!("toml.js"),
    module!("trend.js"),
];

/// A file of the page. Another program may be behind the same address next time, so browsers ask
/// each time.
pub(crate) async fn answer(asset: &'static Asset) -> Answer {
    let mut answer = typed(asset.kind, asset.bytes);
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_beside_the_page_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        let on_disk: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "index.html")
            .collect();
        let served: BTreeSet<String> = ASSETS
            .iter()
            .filter_map(|asset| asset.path.strip_prefix("/assets/"))
            .filter(|name| !["base.css", "charts.js"].contains(name))
            .map(str::to_owned)
            .collect();
        assert_eq!(served, on_disk);
    }

    #[test]
    fn modules_are_loaded_from_this_server_only_and_every_one_exists() {
        let paths: BTreeSet<&str> = ASSETS.iter().map(|asset| asset.path).collect();
        for asset in ASSETS {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            for line in text.lines().filter(|line| line.contains(" from \"")) {
                let named = line.split(" from \"").nth(1).unwrap();
                let name = named.split('"').next().unwrap().trim_start_matches("./");
                assert!(paths.contains(format!("/assets/{name}").as_str()), "{line}");
            }
            let is_script_of_ours =
                asset.path.ends_with(".js") && asset.path != "/assets/charts.js";
            // What runs is in files, which the security policy asks for.
            for inline in ["innerHTML", "insertAdjacentHTML", "eval(", "https://"] {
                assert!(
                    !is_script_of_ours || !text.contains(inline),
                    "{inline} in {}",
                    asset.path
                );
            }
        }
    }
}
