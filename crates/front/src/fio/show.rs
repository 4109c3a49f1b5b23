//! What is printed instead of a run: help, and files as command lines.

use super::builder::Builder;
use super::lexer::{Item, Section};
use super::table::{OptionRow, Table, Verdict};

/// The version that is stood in for.
pub(super) const VERSION: &str = "fio-3.42\n";

/// What `--help` prints.
pub(super) fn usage(table: &Table) -> String {
    let mut text = String::from("fio [OPTIONS] [JOB OPTIONS] [JOB FILES]\n");
    for row in table.rows().iter().filter(|it| it.is_of_command_line) {
        text.push_str(&line(&format!("--{}", row.name()), row));
    }
    text.push_str("Options of jobs: --cmdhelp\n");
    text
}

fn line(name: &str, row: &OptionRow) -> String {
    let (word, sentence) = (row.verdict.word(), row.sentence);
    match row.verdict {
        Verdict::Refused { .. } => format!("  {name:<26} {word}: {sentence}\n"),
        _ => format!("  {name:<26} {sentence}\n"),
    }
}

/// What fio traces by `--debug`; nothing of it is traced here.
const TRACED: &str = "process file io mem blktrace verify random parse diskutil job mutex profile \
    time net rate compress steadystate helperthread zbd sprandom all";

/// What `--debug=help` prints.
pub(super) fn debug() -> String {
    let names = TRACED.replace(' ', ",");
    format!("names that --debug takes, none of which is traced here: {names}\n")
}

/// What `--cmdhelp` prints of one option, or of all.
pub(super) fn option(table: &Table, name: &str) -> Result<String, String> {
    let rows = table.rows().iter().filter(|it| !it.is_of_command_line);
    if name.is_empty() || name == "all" {
        let rows = rows.filter(|it| !it.is_of_value());
        return Ok(rows.map(|row| line(row.name(), row)).collect());
    }
    let Some(row) = table.find(name).filter(|it| !it.is_of_value()) else {
        return Err(match table.nearest(name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "there is no such option".to_owned(),
        });
    };
    let names: Vec<&str> = row.names().collect();
    let mut text = line(&names.join(", "), row);
    let start = format!("{}=", row.name());
    for value in rows.filter(|it| it.name().starts_with(&start)) {
        text.push_str(&line(value.name(), value));
    }
    Ok(text)
}

/// What `--enghelp` prints: the engines, or the options of one.
pub(super) fn engine(table: &Table, name: &str) -> Result<String, String> {
    let (engine, option_name) = name.split_once(',').unwrap_or((name, ""));
    if !option_name.is_empty() {
        return option(table, option_name);
    }
    let start = "ioengine=";
    let mut engines = table
        .rows()
        .iter()
        .filter(|it| it.name().starts_with(start));
    if engine.is_empty() {
        let line = |row: &OptionRow| line(&row.name()[start.len()..], row);
        return Ok(engines.map(line).collect());
    }
    let known = engines.find(|it| &it.name()[start.len()..] == engine);
    let known = known.ok_or("there is no such engine")?;
    let rows = table.rows().iter();
    let of_engine = rows.filter(|it| it.engines().any(|it| it == engine));
    let options: String = of_engine.map(|row| line(row.name(), row)).collect();
    Ok(line(engine, known) + &options)
}

/// A file as one command line.
pub(super) fn command(builder: &Builder, sections: &[Section]) -> String {
    let mut text = String::from("fio ");
    for section in sections.iter().filter(|it| builder.is_wanted(&it.name)) {
        if !section.is_global() {
            text.push_str(&format!("--name={} ", section.name));
        }
        let mut items: Vec<&Item> = section.items.iter().collect();
        items.sort_by_key(|item| builder.rank(&item.name));
        for item in items {
            text.push_str(&written(builder, item));
        }
    }
    text.push('\n');
    text
}

fn written(builder: &Builder, item: &Item) -> String {
    let name = builder.table.find(&item.name).map(OptionRow::name);
    let name = name.unwrap_or(&item.name);
    match &item.value {
        Some(value) if name == "description" => format!("--{name}=\"{value}\" "),
        Some(value) => format!("--{name}={value} "),
        None => format!("--{name} "),
    }
}
