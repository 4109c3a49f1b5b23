//! The commands of a script.

use std::collections::BTreeMap;

use workload::{Diagnostic, printable};

use super::attributes::Variables;
use super::parser::Parser;
use super::script::{Attribute, DEFINED, Entity, FLOWOPS, Kind, Mode, Read, Script, Value};
use crate::rows::rows;
use crate::tokens::{Place, Token, error, meant};

/// Words that commands begin with.
const COMMANDS: &str = "set define create run psrun eventgen echo usage system sleep list debug \
                        quit version enable domultisync load help";
/// Things that a script may define, of all kinds together.
const ENTITIES_MAX: usize = 10_000;

/// Reads a script up to the command that runs it.
pub(super) fn parse(text: &str, overrides: &BTreeMap<String, String>) -> Read<Script> {
    let mut parser = Parser::new(text, overrides)?;
    let mut has_more = true;
    while has_more && !parser.script.has_run && parser.at.peek() != Token::End {
        has_more = parser.command()?;
    }
    Ok(parser.script)
}

impl Parser<'_> {
    /// Reads a command; whether another one may follow.
    fn command(&mut self) -> Read<bool> {
        let place = self.at.place();
        match self.at.word("a command", "a script")? {
            "set" => self.set()?,
            "define" => self.define(place)?,
            "create" => drop(self.at.one_of(&DEFINED[..6], "`create`")?),
            "run" => {
                let is_timed = matches!(self.at.peek(), Token::Number(_) | Token::Variable(_));
                let time = is_timed.then(|| self.value("`run`")).transpose()?;
                self.run(time, place);
            }
            "psrun" => {
                let period = self.at.number("`psrun`").ok();
                let time = period.and_then(|_| self.at.number("`psrun`").ok());
                self.note(place, "psrun", "figures are printed once, at the end");
                self.run(time.map(Value::Number), place);
            }
            "eventgen" => {
                self.at.one_of(&["rate"], "`eventgen`")?;
                self.at.expect('=', "`rate`")?;
                let place = self.at.place();
                let rate = self.value("`rate`")?;
                self.script
                    .settings
                    .insert(0, Attribute::new("rate", rate, place));
            }
            "echo" => {
                let text = self.text("`echo`")?;
                self.script.echoes.push(text);
            }
            "usage" => drop(self.at.quoted("`usage`")?),
            "sleep" => {
                self.value("`sleep`")?;
                self.note(place, "sleep", "nothing is waited for");
            }
            "list" => drop(self.at.one_of(&["fileset", "flowop"], "`list`")?),
            "debug" => drop(self.at.number("`debug`")?),
            "version" => {}
            "quit" => return Ok(false),
            "enable" => {
                let place = self.at.place();
                if self.at.one_of(&["lathist", "multi"], "`enable`")? == "multi" {
                    return Err(refused("domultisync", place));
                }
                self.note(place, "lathist", "percentiles are in the record");
            }
            word => return Err(refused(word, place)),
        }
        Ok(true)
    }

    fn run(&mut self, time: Option<Value>, place: Place) {
        self.script.has_run = true;
        let time = time.map(|time| Attribute::new("run", time, place));
        self.script.settings.extend(time);
    }

    fn set(&mut self) -> Read<()> {
        let place = self.at.place();
        match self.at.next() {
            Token::Variable(name) => {
                self.at.expect('=', "`set`")?;
                let value = self.assigned()?;
                self.assign(name, value);
                Ok(())
            }
            Token::Word("mode") => self.mode(),
            token => {
                let message = format!("`set` sets no {}", token.shown());
                let help = "write `set $name=value`, or `set mode quit firstdone`";
                Err(error(place, message, help))
            }
        }
    }

    fn assign(&mut self, name: &str, value: Value) {
        if !self.overrides.contains_key(name) {
            self.script.variables.insert(name.to_owned(), value);
        }
    }

    fn mode(&mut self) -> Read<()> {
        if self.at.one_of(&["quit", "nousestats"], "`set mode`")? == "quit" {
            let modes = ["timeout", "alldone", "firstdone"];
            self.script.mode = match self.at.one_of(&modes, "`set mode quit`")? {
                "alldone" => Mode::AllDone,
                "firstdone" => Mode::FirstDone,
                _ => Mode::Timeout,
            };
        }
        Ok(())
    }

    /// What a variable is set to: what it says now, whatever its own variables become.
    fn assigned(&mut self) -> Read<Value> {
        let (token, place) = (self.at.peek(), self.at.place());
        let kind = match token {
            Token::Word("randvar") => Kind::Randvar,
            Token::Word("cvar") => Kind::Cvar,
            _ => {
                let value = self.value("`set`")?;
                let known = Variables {
                    globals: &self.script.variables,
                    locals: &BTreeMap::new(),
                };
                return known.settled(&value, place);
            }
        };
        self.at.next();
        self.at.expect('(', &token.shown())?;
        let random = self.entity(kind, place)?;
        self.at.expect(')', &token.shown())?;
        Ok(Value::Random(Box::new(random)))
    }

    fn define(&mut self, place: Place) -> Read<()> {
        self.entity_count += 1;
        if self.entity_count > ENTITIES_MAX {
            let message = format!("there are more than {ENTITIES_MAX} definitions");
            return Err(error(place, message, "define fewer"));
        }
        match self.at.one_of(&DEFINED, "`define`")? {
            "file" | "files" => self.fileset(Kind::File, place),
            "fileset" | "filesets" => self.fileset(Kind::Fileset, place),
            "flowop" => self.composite(),
            "randvar" => self.old_randvar(place),
            _ => {
                let mut process = self.entity(Kind::Process, place)?;
                process.inner = self.block("thread", "`define process`", Self::thread)?;
                self.script.processes.push(process);
                Ok(())
            }
        }
    }

    fn fileset(&mut self, kind: Kind, place: Place) -> Read<()> {
        let fileset = self.entity(kind, place)?;
        self.script.filesets.push(fileset);
        Ok(())
    }

    /// `define randvar name=$v,...`, which older versions have for `set $v=randvar(...)`.
    fn old_randvar(&mut self, place: Place) -> Read<()> {
        let random = self.entity(Kind::Randvar, place)?;
        let name = random.get("name").map(|it| it.value.clone());
        let Some(Value::Variable(name)) = name else {
            let help = "write `define randvar name=$size, ...`";
            return Err(error(place, "a random variable has no name", help));
        };
        let note = "it is of older versions, and sets a variable";
        self.note(place, "define randvar", note);
        self.assign(&name, Value::Random(Box::new(random)));
        Ok(())
    }

    fn composite(&mut self) -> Read<()> {
        let place = self.at.place();
        let mut composite = self.entity(Kind::Composite, place)?;
        composite.word = match composite.get("name").map(|it| &it.value) {
            Some(Value::Text(name)) => name.clone(),
            _ => {
                let help = "write `define flowop name=copy`";
                return Err(error(place, "a composite flowop has no name", help));
            }
        };
        if self.flowop_names().contains(&composite.word.as_str()) {
            let message = format!("there is a flowop `{}` already", printable(&composite.word));
            return Err(error(place, message, "give the composite another name"));
        }
        // Its own variables are known within it.
        let before = self.script.variables.clone();
        for (name, value) in &composite.locals {
            let value = value.clone().unwrap_or(Value::Variable(name.clone()));
            self.script.variables.insert(name.clone(), value);
        }
        composite.inner = self.block("flowop", "`define flowop`", Self::flowop)?;
        self.script.variables = before;
        self.script.composites.push(composite);
        Ok(())
    }

    /// What stands between braces, all of which begins with a word.
    fn block(
        &mut self,
        word: &'static str,
        behind: &str,
        read: impl Fn(&mut Self, Place) -> Read<Entity>,
    ) -> Read<Vec<Entity>> {
        self.at.expect('{', behind)?;
        let mut inner = Vec::new();
        while !self.at.takes('}') {
            let place = self.at.place();
            self.at.one_of(&[word], behind)?;
            inner.push(read(self, place)?);
        }
        Ok(inner)
    }

    fn thread(&mut self, place: Place) -> Read<Entity> {
        let mut thread = self.entity(Kind::Thread, place)?;
        thread.inner = self.block("flowop", "`thread`", Self::flowop)?;
        Ok(thread)
    }

    fn flowop(&mut self, place: Place) -> Read<Entity> {
        let word_place = self.at.place();
        let word = self.at.word("its kind", "`flowop`")?;
        let known = self.flowop_names();
        if !known.contains(&word) {
            return Err(unknown("flowop", word, word_place, &known));
        }
        let mut flowop = self.entity(Kind::Flowop, place)?;
        flowop.word = word.to_owned();
        Ok(flowop)
    }

    fn flowop_names(&self) -> Vec<&str> {
        let composites = self.script.composites.iter();
        let composites = composites.map(|it| it.word.as_str());
        FLOWOPS.split_whitespace().chain(composites).collect()
    }
}

fn unknown(what: &str, seen: &str, place: Place, known: &[&str]) -> Diagnostic {
    let all = || format!("use one of {}", known.join(", "));
    let message = format!("there is no {what} `{}`", printable(seen));
    error(place, message, meant(seen, known.iter().copied(), all))
}

/// Why a command is not obeyed.
fn refused(word: &str, place: Place) -> Diagnostic {
    let mut known = rows(include_str!("refused.txt"));
    if let Some([_, why, help]) = known.find(|row: &[&str; 3]| row[0] == word) {
        return error(place, why, help);
    }
    let known: Vec<&str> = COMMANDS.split_whitespace().collect();
    unknown("command", word, place, &known)
}
