//! `convert`: writes a workload file in another format.

use std::path::Path;

use description::{Workload, to_toml};
use front::{LoadOptions, icf};

use crate::args::{ConvertArgs, ConvertFormat};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::input::find;
use crate::output::write_new;

/// Reads a workload and writes it in the requested format.
pub(crate) fn convert(args: &ConvertArgs) -> Result<Exit, CliError> {
    let options = LoadOptions {
        kind: args.kind,
        strict: args.strict,
        ..LoadOptions::default()
    };
    let loaded = find(&args.file, options)?;
    for warning in &loaded.warnings {
        tell_text!("{warning}\n");
    }
    let text = match args.to {
        ConvertFormat::Toml => {
            let text = toml(&loaded.workloads)?;
            for left_out in &loaded.omitted {
                tell_text!("{left_out}\n");
            }
            text
        }
        ConvertFormat::Icf => icf_text(&args.file, &loaded.workloads)?,
        ConvertFormat::Fio => fio_text(&args.file, &loaded.workloads)?,
    };
    write_new(args.output.as_deref(), &OutputText::Data(text))?;
    Ok(Exit::Success)
}

fn toml(workloads: &[Workload]) -> Result<String, CliError> {
    Ok(match workloads {
        [one] => to_toml(one)?,
        several => to_toml(&Workload {
            part: several.to_vec(),
            ..Workload::default()
        })?,
    })
}

fn icf_text(file: &str, workloads: &[Workload]) -> Result<String, CliError> {
    let [workload] = workloads else {
        let message = format!(
            "`{file}` has {} workloads, but an Iometer configuration holds only one",
            workloads.len()
        );
        let help = Some("convert its parts one by one".to_owned());
        return Err(CliError::new(Exit::Usage, message, help));
    };
    let (document, warnings) = icf::from_workload(workload)?;
    for warning in &warnings {
        tell_text!("{warning}\n");
    }
    Ok(String::from_utf8_lossy(&icf::write(&document)).into_owned())
}

fn fio_text(file: &str, workloads: &[Workload]) -> Result<String, CliError> {
    let is_file = |path: &str| Path::new(path).is_file();
    let (text, warnings) = front::fio::job_file(workloads, file, &is_file)?;
    for warning in &warnings {
        tell_text!("{warning}\n");
    }
    Ok(text)
}
