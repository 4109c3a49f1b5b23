//! From tokens to what a script says.

use std::collections::BTreeMap;

use workload::Diagnostic;

use crate::Difference;

use super::attributes::Written;
use super::cursor::Cursor;
use super::lexer::{Placed, Token, tokens};
use super::page::{Page, Place};
use super::script::{Composite, Entity, Flowop, Mode, Process, Run, Script, Thread, Value};
use super::words::{COMMANDS, FILE_WORDS, FLOWOPS, Kind, PROCESS_WORDS};

/// Things that a script may define, of all kinds together.
const ENTITIES_MAX: usize = 10_000;

/// What the caller says besides the script.
pub(super) struct Reading<'a> {
    pub page: Page<'a>,
    /// Values of variables, whatever the script sets them to.
    pub variables: &'a BTreeMap<String, String>,
}

/// What a script came to, with what its reader should know.
pub(super) struct Parsed {
    pub script: Script,
    pub differences: Vec<Difference>,
}

/// Reads a script up to the command that runs it.
pub(super) fn parse(reading: &Reading<'_>) -> Result<Parsed, Diagnostic> {
    let overridden = reading.variables.iter();
    let overridden = overridden.map(|(name, text)| (name.clone(), value_of(text)));
    let mut parser = Parser {
        cursor: Cursor {
            page: reading.page,
            tokens: tokens(&reading.page)?,
            at: 0,
            variables: overridden.collect(),
            differences: Vec::new(),
        },
        overrides: reading.variables,
        script: Script::default(),
        entity_count: 0,
    };
    while parser.cursor.peek() != &Token::End && parser.script.run.is_none() {
        if !parser.command()? {
            break;
        }
    }
    parser.script.variables = parser.cursor.variables;
    Ok(Parsed {
        script: parser.script,
        differences: parser.cursor.differences,
    })
}

/// A value as the command line has it.
fn value_of(text: &str) -> Value {
    match (super::lexer::number(text), text) {
        (Some(number), _) => Value::Number(number),
        (None, "true") => Value::Flag(true),
        (None, "false") => Value::Flag(false),
        (None, text) => Value::Text(text.to_owned()),
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    overrides: &'a BTreeMap<String, String>,
    script: Script,
    entity_count: usize,
}

impl Parser<'_> {
    /// Reads a command; whether another one may follow.
    fn command(&mut self) -> Result<bool, Diagnostic> {
        let (word, place) = self.cursor.word("a command", "a script")?;
        match word.as_str() {
            "set" => self.set()?,
            "define" => self.define(place)?,
            "create" => {
                let known = [&FILE_WORDS[..], &PROCESS_WORDS].concat();
                self.cursor.one_of(&known, "`create`")?;
            }
            "run" => self.run(place)?,
            "psrun" => self.periodic_run(place)?,
            "eventgen" => self.event_rate()?,
            "echo" => {
                let text = self.cursor.text("`echo`")?;
                self.script.echoes.push(text);
            }
            "usage" => drop(self.cursor.quoted("`usage`")?),
            "system" => return Err(self.system(place)),
            "sleep" => {
                self.cursor.value("`sleep`")?;
                self.cursor.note(place, "sleep", "nothing is waited for");
            }
            "list" => drop(self.cursor.one_of(&["fileset", "flowop"], "`list`")?),
            "debug" => drop(self.cursor.number("`debug`")?),
            "version" => {}
            "quit" => return Ok(false),
            "enable" => self.enable()?,
            "domultisync" => return Err(self.several_clients(place)),
            "load" | "help" => {
                let message = format!("`{word}` is of filebench's shell, which scripts have not");
                let help = "put all into one file, with `run` at its end";
                return Err(self.cursor.page.error(place, message).help(help));
            }
            _ => {
                return Err(self.cursor.unknown(
                    place,
                    "command",
                    &word,
                    COMMANDS.split_whitespace(),
                ));
            }
        }
        Ok(true)
    }

    fn system(&self, place: Place) -> Diagnostic {
        let message = "`system` runs programs of this machine, which no workload may";
        let help = "run the program yourself, and leave the line out";
        self.cursor.page.error(place, message).help(help)
    }

    fn several_clients(&self, place: Place) -> Diagnostic {
        let message = "several clients do not work together here";
        let help = "leave out `enable multi` and `domultisync`, and run it on each client";
        self.cursor.page.error(place, message).help(help)
    }

    fn enable(&mut self) -> Result<(), Diagnostic> {
        let place = self.cursor.place();
        match self
            .cursor
            .one_of(&["lathist", "multi"], "`enable`")?
            .as_str()
        {
            "multi" => Err(self.several_clients(place)),
            _ => {
                self.cursor
                    .note(place, "lathist", "percentiles are in the record");
                Ok(())
            }
        }
    }

    fn run(&mut self, place: Place) -> Result<(), Diagnostic> {
        let time = match self.cursor.peek() {
            Token::Number(_) | Token::Variable(_) => Some(self.cursor.value("`run`")?),
            _ => None,
        };
        self.script.run = Some(Run { time, place });
        Ok(())
    }

    fn periodic_run(&mut self, place: Place) -> Result<(), Diagnostic> {
        let mut numbers = Vec::new();
        while let (Token::Number(number), true) = (self.cursor.peek(), numbers.len() < 2) {
            numbers.push(*number);
            self.cursor.next();
        }
        self.cursor
            .note(place, "psrun", "figures are printed once, at the end");
        let time = numbers.get(1).copied().map(Value::Number);
        self.script.run = Some(Run { time, place });
        Ok(())
    }

    fn event_rate(&mut self) -> Result<(), Diagnostic> {
        self.cursor.one_of(&["rate"], "`eventgen`")?;
        self.cursor.expect('=', "`rate`")?;
        let place = self.cursor.place();
        let rate = self.cursor.value("`rate`")?;
        self.script.event_rate = Some((rate, place));
        Ok(())
    }

    fn set(&mut self) -> Result<(), Diagnostic> {
        let Placed { token, place } = self.cursor.next();
        match token {
            Token::Variable(name) => {
                self.cursor.expect('=', "`set`")?;
                let value = self.assigned()?;
                self.assign(name, value);
                Ok(())
            }
            Token::Word(word) if word == "mode" => self.mode(),
            _ => {
                let message = format!("`set` sets no {}", token.shown());
                let help = "write `set $name=value`, or `set mode quit firstdone`";
                Err(self.cursor.page.error(place, message).help(help))
            }
        }
    }

    fn assign(&mut self, name: String, value: Value) {
        if !self.overrides.contains_key(&name) {
            self.cursor.variables.insert(name, value);
        }
    }

    fn mode(&mut self) -> Result<(), Diagnostic> {
        if self.cursor.one_of(&["quit", "nousestats"], "`set mode`")? == "nousestats" {
            return Ok(());
        }
        let modes = ["timeout", "alldone", "firstdone"];
        self.script.mode = match self.cursor.one_of(&modes, "`set mode quit`")?.as_str() {
            "alldone" => Mode::AllDone,
            "firstdone" => Mode::FirstDone,
            _ => Mode::Timeout,
        };
        Ok(())
    }

    /// What a variable is set to: what it says now, whatever its own variables become.
    fn assigned(&mut self) -> Result<Value, Diagnostic> {
        let place = self.cursor.place();
        let word = match self.cursor.peek() {
            Token::Word(word) => word.clone(),
            _ => String::new(),
        };
        let kind = match word.as_str() {
            "randvar" => Kind::Randvar,
            "cvar" => Kind::Cvar,
            _ => {
                let value = self.cursor.value("`set`")?;
                return self.cursor.settled(value, place);
            }
        };
        self.cursor.next();
        self.cursor.expect('(', &format!("`{word}`"))?;
        let random = self.cursor.random(kind, place)?;
        self.cursor.expect(')', &format!("`{word}`"))?;
        Ok(random)
    }

    fn define(&mut self, place: Place) -> Result<(), Diagnostic> {
        self.entity_count += 1;
        if self.entity_count > ENTITIES_MAX {
            let message = format!("there are more than {ENTITIES_MAX} definitions");
            return Err(self.cursor.page.error(place, message).help("define fewer"));
        }
        let kinds = [&FILE_WORDS[..], &PROCESS_WORDS, &["flowop", "randvar"]].concat();
        match self.cursor.one_of(&kinds, "`define`")?.as_str() {
            "file" | "files" => self.fileset(Kind::File, place),
            "process" | "processes" => self.process(place),
            "flowop" => self.composite(),
            "randvar" => self.old_randvar(place),
            _ => self.fileset(Kind::Fileset, place),
        }
    }

    fn fileset(&mut self, kind: Kind, place: Place) -> Result<(), Diagnostic> {
        let attributes = self.cursor.attributes(kind, None)?.plain;
        self.script.filesets.push(Entity {
            attributes,
            place,
            is_single: kind == Kind::File,
        });
        Ok(())
    }

    /// `define randvar name=$v,...`, which older versions have for `set $v=randvar(...)`.
    fn old_randvar(&mut self, place: Place) -> Result<(), Diagnostic> {
        let value = self.cursor.random(Kind::Randvar, place)?;
        let name = match &value {
            Value::Random(random) => random.attributes.get("name").map(|it| it.value.clone()),
            _ => None,
        };
        let Some(Value::Variable(name)) = name else {
            let message = "a random variable has no name";
            let help = "write `define randvar name=$size, ...`";
            return Err(self.cursor.page.error(place, message).help(help));
        };
        self.cursor.note(
            place,
            "define randvar",
            "it is of older versions, and sets a variable",
        );
        self.assign(name, value);
        Ok(())
    }

    fn process(&mut self, place: Place) -> Result<(), Diagnostic> {
        let attributes = self.cursor.attributes(Kind::Process, None)?.plain;
        self.cursor.expect('{', "`define process`")?;
        let mut threads = Vec::new();
        while !self.cursor.takes('}') {
            let place = self.cursor.place();
            self.cursor.one_of(&["thread"], "`define process`")?;
            let attributes = self.cursor.attributes(Kind::Thread, None)?.plain;
            let flowops = self.flowops("`thread`")?;
            threads.push(Thread {
                attributes,
                place,
                flowops,
            });
        }
        self.script.processes.push(Process {
            attributes,
            place,
            threads,
        });
        Ok(())
    }

    fn composite(&mut self) -> Result<(), Diagnostic> {
        let place = self.cursor.place();
        let attributes = self.cursor.attributes(Kind::Composite, None)?;
        let name = match attributes.plain.get("name").map(|it| &it.value) {
            Some(Value::Text(name)) => name.clone(),
            _ => {
                let message = "a composite flowop has no name";
                let help = "write `define flowop name=copy`";
                return Err(self.cursor.page.error(place, message).help(help));
            }
        };
        let composites = self.script.composites.iter().map(|it| it.name.as_str());
        if FLOWOPS
            .split_whitespace()
            .chain(composites)
            .any(|it| it == name)
        {
            let message = format!("there is a flowop `{}` already", workload::printable(&name));
            let error = self.cursor.page.error(place, message);
            return Err(error.help("give the composite another name"));
        }
        // Its own variables are known within it.
        let before = self.cursor.variables.clone();
        for (name, value) in &attributes.locals {
            let value = value.clone().unwrap_or(Value::Variable(name.clone()));
            self.cursor.variables.insert(name.clone(), value);
        }
        let flowops = self.flowops("`define flowop`");
        self.cursor.variables = before;
        self.script.composites.push(Composite {
            name,
            locals: attributes.locals,
            flowops: flowops?,
        });
        Ok(())
    }

    fn flowops(&mut self, behind: &str) -> Result<Vec<Flowop>, Diagnostic> {
        self.cursor.expect('{', behind)?;
        let mut flowops = Vec::new();
        while !self.cursor.takes('}') {
            let place = self.cursor.place();
            self.cursor.one_of(&["flowop"], behind)?;
            let (kind, kind_place) = self.cursor.word("its kind", "`flowop`")?;
            let composites = self.script.composites.iter().map(|it| it.name.as_str());
            let known = || FLOWOPS.split_whitespace().chain(composites.clone());
            if !known().any(|it| it == kind) {
                return Err(self.cursor.unknown(kind_place, "flowop", &kind, known()));
            }
            let Written { plain, locals } = self.cursor.attributes(Kind::Flowop, None)?;
            let locals = locals.into_iter();
            let locals = locals.filter_map(|(name, value)| Some((name, value?)));
            flowops.push(Flowop {
                kind,
                attributes: plain,
                locals: locals.collect(),
                place,
            });
        }
        Ok(flowops)
    }
}
