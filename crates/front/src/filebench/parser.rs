//! The commands of a script, what they define, and the attributes of that.

use std::collections::BTreeMap;

use description::nearest;
use plan::program::Before;
use plan::{Diagnostic, printable};

use super::script::{Attribute, Entity, Kind, Read, Script, Value};
use crate::cursor::Cursor;
use crate::rows::rows;
use crate::tokens::{Language, Place, Token, error, expanded};
use crate::{Difference, DifferenceKind};

/// What can be created, and what can be defined.
const CREATED: &str = "file files fileset filesets process processes";
pub(super) const DEFINED: &str = "file files fileset filesets process processes flowop randvar";
/// Things with attributes in a script, composites written out, at most.
const ENTITIES_MAX: usize = 20_000;
/// Behind this a variable need not be set.
const LOCAL: &str = "the name of a variable";

const LANGUAGE: Language = Language {
    marks: "{}()=,*",
    begins_word: |it| it.is_ascii_alphabetic() || "-/".contains(it),
    is_in_word: |it| it.is_ascii_alphanumeric() || "/._:;-".contains(it),
    is_script: true,
};

/// A place among the tokens of a script, with what the script says up to there.
struct Parser<'a> {
    at: Cursor<'a>,
    script: Script,
    /// Values of variables, whatever the script sets them to.
    overrides: &'a BTreeMap<String, String>,
    /// What flowops can be, with blanks between: whatever a thread can do, and composites.
    flowops: String,
    composites: BTreeMap<String, Entity>,
    entity_count: usize,
}

/// Reads a script up to the command that runs it.
pub(super) fn parse(text: &str, overrides: &BTreeMap<String, String>) -> Read<Script> {
    let variables = overrides.iter();
    let variables = variables.map(|(name, text)| (name.clone(), Value::Plain(text.clone())));
    let mut parser = Parser {
        at: Cursor::new(LANGUAGE.tokens(text)?),
        script: Script {
            variables: variables.collect(),
            ..Script::default()
        },
        overrides,
        flowops: Kind::Flowop.row()[2].to_owned(),
        composites: BTreeMap::new(),
        entity_count: 0,
    };
    while parser.at.peek() != Token::End && parser.command()? {}
    Ok(parser.script)
}

impl Parser<'_> {
    /// Reads a command; whether another one may follow.
    fn command(&mut self) -> Read<bool> {
        let place = self.at.place();
        let (known, lacks) = (Kind::Script.row()[2], "there is no command");
        let word = self.at.known("a command", known, lacks, "a script")?;
        self.script.note(place, &format!("`{word}`"));
        match word {
            "set" => self.set()?,
            "define" => self.define(place)?,
            "create" => {
                self.at.one_of(CREATED, "`create`")?;
                self.script.is_created = true;
            }
            "system" => self.system(place)?,
            "run" | "psrun" => {
                if word == "psrun" {
                    // How often is not asked for here.
                    let _ = self.at.number("`psrun`");
                }
                let is_timed = matches!(self.at.peek(), Token::Number(_) | Token::Variable(_));
                let time = is_timed.then(|| self.value("`run`")).transpose()?;
                let value = time.unwrap_or(Value::Plain("0".to_owned()));
                let run = Attribute { value, place };
                self.script.whole.attributes.insert("run".to_owned(), run);
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
            "sleep" => drop(self.value("`sleep`")?),
            "list" => drop(self.at.one_of("fileset flowop", "`list`")?),
            "debug" => drop(self.at.number("`debug`")?),
            "version" => {}
            "quit" => return Ok(false),
            "enable" => {
                let place = self.at.place();
                if self.at.one_of("lathist multi", "`enable`")? == "multi" {
                    return Err(refused("domultisync", place));
                }
                self.script.note(place, "`lathist`");
            }
            _ => return Err(refused(word, place)),
        }
        Ok(true)
    }

    /// Takes the two commands of published scripts that pgmeter carries out itself.
    fn system(&mut self, place: Place) -> Read<()> {
        let text = self.at.quoted("`system`")?;
        let known = commands(&text).ok_or_else(|| refused("system", place))?;
        match self.script.is_created {
            true => self.script.before.extend(known),
            false => self.script.note(place, "`system` before `create`"),
        }
        Ok(())
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
                if self.at.one_of("quit nousestats", "`set mode`")? == "quit" {
                    let modes = "timeout alldone firstdone";
                    let mode = self.at.one_of(modes, "`set mode quit`")?;
                    self.script.mode = mode.to_owned();
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
            _ => return self.value("`set`")?.settled(&self.script.variables, place),
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
        self.script.note(place, "`define randvar`");
        self.assign(&name, Value::Random(Box::new(random)));
        Ok(())
    }

    fn composite(&mut self, place: Place) -> Read<()> {
        let composite = self.with_inner(Kind::Composite, place)?;
        let word = composite.needed("name")?;
        if self.flowops.split(' ').any(|it| it == word) {
            let message = format!("there is a flowop `{}` already", printable(&word));
            return Err(error(place, message, "give the composite another name"));
        }
        self.flowops += &format!(" {word}");
        self.composites.insert(word, composite);
        Ok(())
    }

    /// Attributes, and behind them threads or flowops between braces, in which an own variable is
    /// known.
    fn with_inner(&mut self, kind: Kind, place: Place) -> Read<Entity> {
        let mut outer = self.entity(kind, place)?;
        let has_own = !outer.locals.is_empty();
        let before = has_own.then(|| self.script.variables.clone());
        self.script.variables.extend(outer.locals.clone());
        let [called, _, inside] = kind.row();
        let behind = format!("a {called}");
        self.at.expect('{', &behind)?;
        while !self.at.takes('}') {
            let place = self.at.place();
            outer.inner.push(match self.at.one_of(inside, &behind)? {
                "thread" => self.with_inner(Kind::Thread, place)?,
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
        let (known, lacks) = (&self.flowops, "there is no flowop");
        let word = self.at.known("its kind", known, lacks, "`flowop`")?;
        let mut flowop = self.entity(Kind::Flowop, place)?;
        word.clone_into(&mut flowop.word);
        if let Some(mut composite) = self.composites.get(word).cloned() {
            self.count(composite.count(), place)?;
            let own = &mut composite.locals;
            flowop.locals.retain(|name, _| own.contains_key(name));
            own.append(&mut flowop.locals);
            let mut inner = composite.inner.iter_mut();
            inner.try_for_each(|it| it.settle(own))?;
            (flowop.kind, flowop.inner) = (Kind::Composite, composite.inner);
        }
        Ok(flowop)
    }

    /// A text with its variables looked up now.
    fn text(&mut self, behind: &str) -> Read<String> {
        let place = self.at.place();
        let text = self.at.quoted(behind)?;
        let look_up = |name: &str| self.script.variables.get(name).map(Value::shown);
        expanded(&text, look_up).map_err(|name| self.unset(&name, place))
    }

    fn unset(&self, name: &str, place: Place) -> Diagnostic {
        let known = self.script.variables.keys().map(String::as_str);
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `${near}`?"),
            None => format!("set it before, as in `set ${name}=10`"),
        };
        error(place, format!("`${name}` is used before it is set"), help)
    }

    /// A value, or a product of several.
    fn value(&mut self, behind: &str) -> Read<Value> {
        let mut value = self.factor(behind)?;
        while self.at.takes('*') {
            let place = self.at.place();
            value = Value::product(value, self.factor("`*`")?, place)?;
        }
        Ok(value)
    }

    fn factor(&mut self, behind: &str) -> Read<Value> {
        let is_known = |name| behind == LOCAL || self.script.variables.contains_key(name);
        let value = match self.at.peek() {
            Token::Number(number) => Value::Plain(number.to_string()),
            Token::Word(word) => Value::Plain(word.to_owned()),
            Token::Quoted(_) => return self.text(behind).map(Value::Plain),
            Token::Variable(name) if is_known(name) => Value::Variable(name.to_owned()),
            Token::Variable(name) => return Err(self.unset(name, self.at.place())),
            Token::Mark(_) | Token::End => return Err(self.at.wanted("a value", behind)),
        };
        self.at.next();
        Ok(value)
    }

    /// Counts what has attributes.
    fn count(&mut self, more: usize, place: Place) -> Read<()> {
        self.entity_count += more;
        if self.entity_count <= ENTITIES_MAX {
            return Ok(());
        }
        let message = format!("there are more than {ENTITIES_MAX} definitions and flowops");
        Err(error(place, message, "define fewer, and use `iters`"))
    }

    /// Attributes with commas between.
    fn entity(&mut self, kind: Kind, place: Place) -> Read<Entity> {
        self.count(1, place)?;
        let mut entity = Entity {
            kind,
            place,
            ..Entity::default()
        };
        self.attribute(&mut entity)?;
        while self.at.takes(',') {
            self.attribute(&mut entity)?;
        }
        Ok(entity)
    }

    fn attribute(&mut self, entity: &mut Entity) -> Read<()> {
        let (kind, place) = (entity.kind, self.at.place());
        if let Token::Variable(name) = self.at.peek()
            && matches!(kind, Kind::Flowop | Kind::Composite)
        {
            self.at.next();
            let value = match self.at.takes('=') {
                true => self.value("a variable of a flowop")?,
                false if kind == Kind::Composite => Value::Variable(name.to_owned()),
                false => return Ok(()),
            };
            entity.locals.insert(name.to_owned(), value);
            return Ok(());
        }
        let [called, known, _] = kind.row();
        let behind = format!("a {called}");
        let lacks = format!("{behind} has no attribute");
        let name = self.at.known("an attribute", known, &lacks, &behind)?;
        let value = match (self.at.takes('='), name) {
            (_, "randtable") => return self.table(&mut entity.table),
            (false, _) => Value::Plain("true".to_owned()),
            // A variable's own name is not looked up.
            (true, "name") if kind == Kind::Randvar => self.value(LOCAL)?,
            (true, _) => self.value(&format!("`{name}`"))?,
        };
        let name = match name {
            "filename" => "filesetname",
            "filesize" => "size",
            name => name,
        };
        let what = format!("`{name}`");
        if matches!(name, "cached" | "usermode") {
            self.script.note(place, &what);
        } else if entity.attributes.contains_key(name) {
            let note = "it stands twice, and the first counts";
            let difference = Difference::new(DifferenceKind::NoEffect, what, note);
            self.script.differences.push(difference.at(place.line));
        } else {
            let attribute = Attribute { value, place };
            entity.attributes.insert(name.to_owned(), attribute);
        }
        Ok(())
    }

    /// `{{percent, least, most}, ...}`
    fn table(&mut self, rows: &mut Vec<[i64; 3]>) -> Read<()> {
        let behind = "`randtable`";
        rows.clear();
        self.at.expect('{', behind)?;
        loop {
            self.at.expect('{', behind)?;
            let mut row = [0; 3];
            for (number, mark) in row.iter_mut().zip([',', ',', '}']) {
                *number = self.at.number(behind)?;
                self.at.expect(mark, behind)?;
            }
            rows.push(row);
            if !self.at.takes(',') {
                return self.at.expect('}', behind);
            }
        }
    }
}

/// Why a command or a flowop is not obeyed.
/// What a command line of `sync` and of the dropping of caches stands for, and nothing else.
fn commands(text: &str) -> Option<Vec<Before>> {
    let text = text.replace("&&", ";");
    let parts = text.split(';').map(str::trim).filter(|it| !it.is_empty());
    let known: Option<Vec<Before>> = parts.map(command).collect();
    known.filter(|it| !it.is_empty())
}

fn command(text: &str) -> Option<Before> {
    let text = text.replace('>', " > ");
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["sync" | "/bin/sync" | "/usr/bin/sync"] => Some(Before::Sync),
        [
            "echo" | "/bin/echo",
            "1" | "3",
            ">",
            "/proc/sys/vm/drop_caches",
        ] => Some(Before::DropCaches),
        _ => None,
    }
}

pub(super) fn refused(word: &str, place: Place) -> Diagnostic {
    let mut known = rows(include_str!("refused.txt"));
    let [_, why, help] = known.find(|row| row[0] == word).unwrap_or_default();
    error(place, why, help)
}
