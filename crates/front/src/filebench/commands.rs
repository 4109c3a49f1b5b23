//! The commands of a script.

use std::collections::BTreeMap;

use workload::{Diagnostic, printable};

use super::parser::Parser;
use super::script::{Entity, Kind, Read, Script, Value};
use crate::rows::rows;
use crate::tokens::{Place, Token, error};

/// Words that commands begin with.
const COMMANDS: &str = "set define create run psrun eventgen echo usage system sleep list debug \
                        quit version enable domultisync load help";
/// What can be created, and what can be defined.
const CREATED: &str = "file files fileset filesets process processes";
pub(super) const DEFINED: &str = "file files fileset filesets process processes flowop randvar";
/// Everything that a thread can do by itself.
const FLOWOPS: &str = "openfile createfile closefile deletefile statfile read write \
                       readwholefile writewholefile appendfile appendfilerand fsync \
                       fsyncset makedir removedir listdir aiowrite aiowait block wakeup \
                       semblock sempost hog delay eventlimit iopslimit opslimit bwlimit \
                       finishoncount finishonbytes print testrandvar";

/// Reads a script up to the command that runs it.
pub(super) fn parse(text: &str, overrides: &BTreeMap<String, String>) -> Read<Script> {
    let mut parser = Parser::new(text, overrides)?;
    let mut has_more = true;
    while has_more && parser.at.peek() != Token::End {
        has_more = parser.command()?;
    }
    Ok(parser.script)
}

impl Parser<'_> {
    /// Reads a command; whether another one may follow.
    fn command(&mut self) -> Read<bool> {
        let place = self.at.place();
        let lacks = "there is no command";
        match self.at.known("a command", COMMANDS, lacks, "a script")? {
            "set" => self.set()?,
            "define" => self.define(place)?,
            "create" => drop(self.at.one_of(CREATED, "`create`")?),
            word @ ("run" | "psrun") => {
                if word == "psrun" {
                    self.note(place, "`psrun`");
                    // How often is not asked for here.
                    let _ = self.at.number("`psrun`");
                }
                let is_timed = matches!(self.at.peek(), Token::Number(_) | Token::Variable(_));
                let time = is_timed.then(|| self.value("`run`")).transpose()?;
                let time = time.unwrap_or(Value::Plain("0".to_owned()));
                self.script.whole.put("run", time, place);
                return Ok(false);
            }
            "eventgen" => {
                let made = self.entity(Kind::Eventgen, place)?;
                self.script.whole.attributes.extend(made.attributes);
            }
            "echo" => {
                let text = self.text("`echo`")?;
                self.script.echoes.push(text);
            }
            "usage" => drop(self.at.quoted("`usage`")?),
            "sleep" => {
                self.value("`sleep`")?;
                self.note(place, "`sleep`");
            }
            "list" => drop(self.at.one_of("fileset flowop", "`list`")?),
            "debug" => drop(self.at.number("`debug`")?),
            "version" => {}
            "quit" => return Ok(false),
            "enable" => {
                let place = self.at.place();
                if self.at.one_of("lathist multi", "`enable`")? == "multi" {
                    return Err(refused("domultisync", place));
                }
                self.note(place, "`lathist`");
            }
            word => return Err(refused(word, place)),
        }
        Ok(true)
    }

    fn set(&mut self) -> Read<()> {
        let place = self.at.place();
        match self.at.next() {
            Token::Variable(name) => {
                self.at.expect('=', "`set`")?;
                let value = self.assigned()?;
                self.assign(name, value);
            }
            Token::Word("mode") => {
                let place = self.at.place();
                if self.at.one_of("quit nousestats", "`set mode`")? == "quit" {
                    let modes = "timeout alldone firstdone";
                    let mode = self.at.one_of(modes, "`set mode quit`")?;
                    let mode = Value::Plain(mode.to_owned());
                    self.script.whole.put("mode", mode, place);
                }
            }
            token => {
                let message = format!("`set` sets no {}", token.shown());
                let help = "write `set $name=value`, or `set mode quit firstdone`";
                return Err(error(place, message, help));
            }
        }
        Ok(())
    }

    fn assign(&mut self, name: &str, value: Value) {
        if !self.overrides.contains_key(name) {
            self.script.variables.insert(name.to_owned(), value);
        }
    }

    /// What a variable is set to: what it says now, whatever its own variables become.
    fn assigned(&mut self) -> Read<Value> {
        let (token, place) = (self.at.peek(), self.at.place());
        let kind = match token {
            Token::Word("randvar") => Kind::Randvar,
            Token::Word("cvar") => Kind::Cvar,
            _ => {
                let value = self.value("`set`")?;
                return value.settled(&self.script.variables, place);
            }
        };
        self.at.next();
        self.at.expect('(', &token.shown())?;
        let random = self.entity(kind, place)?;
        self.at.expect(')', &token.shown())?;
        Ok(Value::Random(Box::new(random)))
    }

    fn define(&mut self, place: Place) -> Read<()> {
        let defined = match self.at.one_of(DEFINED, "`define`")? {
            "file" | "files" => self.entity(Kind::File, place)?,
            "fileset" | "filesets" => self.entity(Kind::Fileset, place)?,
            "flowop" => return self.composite(place),
            "randvar" => return self.old_randvar(place),
            _ => self.with_inner(Kind::Process, place)?,
        };
        self.script.whole.inner.push(defined);
        Ok(())
    }

    /// `define randvar name=$v,...`, which older versions have for `set $v=randvar(...)`.
    fn old_randvar(&mut self, place: Place) -> Read<()> {
        let random = self.entity(Kind::Randvar, place)?;
        let Some(Value::Variable(name)) = random.get("name").cloned() else {
            let help = "write `define randvar name=$size, ...`";
            return Err(error(place, "a random variable has no name", help));
        };
        self.note(place, "`define randvar`");
        self.assign(&name, Value::Random(Box::new(random)));
        Ok(())
    }

    fn composite(&mut self, place: Place) -> Read<()> {
        let mut composite = self.with_inner(Kind::Composite, place)?;
        composite.word = composite.needed("name")?;
        if self.flowops().split(' ').any(|it| it == composite.word) {
            let message = format!("there is a flowop `{}` already", printable(&composite.word));
            return Err(error(place, message, "give the composite another name"));
        }
        self.composites.push(composite);
        Ok(())
    }

    /// Attributes, and behind them threads or flowops between braces, in which an own variable is
    /// known.
    fn with_inner(&mut self, kind: Kind, place: Place) -> Read<Entity> {
        let mut outer = self.entity(kind, place)?;
        let has_own = !outer.locals.is_empty();
        let before = has_own.then(|| self.script.variables.clone());
        self.script.variables.extend(outer.locals.clone());
        let behind = format!("a {}", kind.name());
        let word = match kind {
            Kind::Process => "thread",
            _ => "flowop",
        };
        self.at.expect('{', &behind)?;
        while !self.at.takes('}') {
            let place = self.at.place();
            self.at.one_of(word, &behind)?;
            outer.inner.push(match kind {
                Kind::Process => self.with_inner(Kind::Thread, place)?,
                _ => self.flowop(place)?,
            });
        }
        if let Some(before) = before {
            self.script.variables = before;
        }
        Ok(outer)
    }

    /// A flowop; a composite has the values that its variables have there.
    fn flowop(&mut self, place: Place) -> Read<Entity> {
        let (known, lacks) = (self.flowops(), "there is no flowop");
        let word = self.at.known("its kind", &known, lacks, "`flowop`")?;
        let mut flowop = self.entity(Kind::Flowop, place)?;
        word.clone_into(&mut flowop.word);
        let mut composites = self.composites.iter();
        if let Some(composite) = composites.find(|it| it.word == word) {
            let mut composite = composite.clone();
            self.count(composite.count(), place)?;
            for (name, value) in &mut composite.locals {
                let handed = flowop.locals.get(name).cloned();
                *value = handed.unwrap_or_else(|| value.clone());
            }
            for inner in &mut composite.inner {
                inner.settle(&composite.locals)?;
            }
            (flowop.kind, flowop.inner) = (Kind::Composite, composite.inner);
        }
        Ok(flowop)
    }

    fn flowops(&self) -> String {
        let composites = self.composites.iter().map(|it| it.word.as_str());
        let known: Vec<&str> = FLOWOPS.split(' ').chain(composites).collect();
        known.join(" ")
    }
}

/// Why a command is not obeyed.
fn refused(word: &str, place: Place) -> Diagnostic {
    let mut known = rows(include_str!("refused.txt"));
    let row = known.find(|row: &[&str; 3]| row[0] == word);
    let [_, why, help] = row.unwrap_or_default();
    error(place, why, help)
}
