//! Output of options that print instead of running: help, and job files as command lines.

use super::builder::Builder;
use super::lexer::{Item, JobSection};
use super::table::{FioOption, OptionSupport, OptionTable};

/// The emulated version.
pub(super) const VERSION: &str = "fio-3.42\n";

/// Output of `--help`.
pub(super) fn usage(table: &OptionTable) -> String {
    let mut text = String::from("fio [OPTIONS] [JOB OPTIONS] [JOB FILES]\n");
    for row in table.rows().iter().filter(|it| it.is_command_line) {
        text.push_str(&line(&format!("--{}", row.name()), row));
    }
    text.push_str("Options of jobs: --cmdhelp\n");
    text
}

fn line(name: &str, row: &FioOption) -> String {
    let (word, sentence) = (row.support.word(), row.explanation);
    match row.support {
        OptionSupport::Refused { .. } => format!("  {name:<26} {word}: {sentence}\n"),
        _ => format!("  {name:<26} {sentence}\n"),
    }
}

/// Output of `--cmdhelp` for one option, or for all.
pub(super) fn option(table: &OptionTable, name: &str) -> Result<String, String> {
    let rows = table.rows().iter().filter(|it| !it.is_command_line);
    if name.is_empty() || name == "all" {
        let rows = rows.filter(|it| !it.is_value_row());
        return Ok(rows.map(|row| line(row.name(), row)).collect());
    }
    let Some(row) = table.find(name).filter(|it| !it.is_value_row()) else {
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

/// Output of `--enghelp`: the engines, the options of one engine, or one option.
pub(super) fn engine(table: &OptionTable, name: &str) -> Result<String, String> {
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
        let line = |row: &FioOption| line(&row.name()[start.len()..], row);
        return Ok(engines.map(line).collect());
    }
    let known = engines.find(|it| &it.name()[start.len()..] == engine);
    let known = known.ok_or("there is no such engine")?;
    let rows = table.rows().iter();
    let engine_rows = rows.filter(|it| it.engines().any(|it| it == engine));
    let options: String = engine_rows.map(|row| line(row.name(), row)).collect();
    Ok(line(engine, known) + &options)
}

/// A job file as one command line, for `--showcmd`.
pub(super) fn command(builder: &Builder, sections: &[JobSection]) -> String {
    let mut text = String::from("fio ");
    for section in sections.iter().filter(|it| builder.is_wanted(&it.name)) {
        if !section.is_global() {
            text.push_str(&format!("--name={} ", section.name));
        }
        let mut items: Vec<&Item> = section.items.iter().collect();
        // fio prints options in the order in which it applies them.
        items.sort_by_key(|item| builder.rank(&item.name));
        for item in items {
            text.push_str(&written(builder, item));
        }
    }
    text.push('\n');
    text
}

fn written(builder: &Builder, item: &Item) -> String {
    let name = builder.table.find(&item.name).map(FioOption::name);
    let name = name.unwrap_or(&item.name);
    match &item.value {
        // Like fio, quote only the description.
        Some(value) if name == "description" => format!("--{name}=\"{value}\" "),
        Some(value) => format!("--{name}={value} "),
        None => format!("--{name} "),
    }
}
