//! Parses a script's commands, definitions and attributes.

use std::collections::BTreeMap;

use description::nearest;
use plan::program::PhasePreparation;
use plan::{Diagnostic, printable};

use super::script::{Attribute, Entity, EntityKind, Read, Script, ScriptValue};
use crate::cursor::TokenCursor;
use crate::rows::rows;
use crate::tokens::{Language, SourcePosition, Token, error, expand_variables};
use crate::{DifferenceKind, OriginalDifference};

/// Words that may follow `create` and `define`.
const CREATED: &str = "file files fileset filesets process processes";
pub(super) const DEFINED: &str = "file files fileset filesets process processes flowop randvar";
/// Limit on definitions and flowops in a script, with composites expanded.
const ENTITIES_MAX: usize = 20_000;
/// After this text, a variable need not be set.
const LOCAL: &str = "the name of a variable";

const LANGUAGE: Language = Language {
    marks: "{}()=,*",
    begins_word: |it| it.is_ascii_alphabetic() || "-/".contains(it),
    is_in_word: |it| it.is_ascii_alphanumeric() || "/._:;-".contains(it),
    is_script: true,
};

/// Position among the tokens of a script, and everything parsed so far.
struct Parser<'a> {
    at: TokenCursor<'a>,
    script: Script,
    /// Values of variables that the script cannot change.
    overrides: &'a BTreeMap<String, String>,
    /// Names of all flowops, separated by blanks, including composites.
    flowops: String,
    composites: BTreeMap<String, Entity>,
    entity_count: usize,
}

/// Parses a script up to the command that runs it.
pub(super) fn parse(text: &str, overrides: &BTreeMap<String, String>) -> Read<Script> {
    let variables = overrides.iter();
    let variables = variables.map(|(name, text)| (name.clone(), ScriptValue::Plain(text.clone())));
    let mut parser = Parser {
        at: TokenCursor::new(LANGUAGE.tokens(text)?),
        script: Script {
            variables: variables.collect(),
            ..Script::default()
        },
        overrides,
        flowops: EntityKind::Flowop.row()[2].to_owned(),
        composites: BTreeMap::new(),
        entity_count: 0,
    };
    while parser.at.peek() != Token::End && parser.command()? {}
    Ok(parser.script)
}

impl Parser<'_> {
    /// Parses a command and returns `true` if another one may follow.
    fn command(&mut self) -> Read<bool> {
        let place = self.at.place();
        let (known, lacks) = (EntityKind::Script.row()[2], "there is no command");
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
                    // The interval of statistics is not used here.
                    // It is optional, so a missing number is no error.
                    let _ = self.at.number("`psrun`");
                }
                let is_timed = matches!(self.at.peek(), Token::Number(_) | Token::Variable(_));
                let time = is_timed.then(|| self.value("`run`")).transpose()?;
                let value = time.unwrap_or(ScriptValue::Plain("0".to_owned()));
                let run = Attribute { value, place };
                self.script.whole.attributes.insert("run".to_owned(), run);
                // The original exits after the run, so it ignores all that follows.
                return Ok(false);
            }
            "eventgen" => {
                let made = self.entity(EntityKind::Eventgen, place)?;
                self.script.whole.attributes.extend(made.attributes);
            }
            "echo" => {
                let text = self.text("`echo`")?;
                self.script.echoes.push(text);
            }
            // These commands only print or wait, which has no effect on the measured phase.
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

    /// Accepts the commands of published scripts that pgmeter performs itself: sync and dropping
    /// caches.
    fn system(&mut self, place: SourcePosition) -> Read<()> {
        let text = self.at.quoted("`system`")?;
        let known = commands(&text).ok_or_else(|| refused("system", place))?;
        match self.script.is_created {
            // Files exist after `create`, so dropping caches removes the pages of their creation.
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
                let message = format!("`set` cannot set {}", token.shown());
                let help = "write `set $name=value`, or `set mode quit firstdone`";
                return Err(error(place, message, help));
            }
        }
        Ok(())
    }

    fn assign(&mut self, name: &str, value: ScriptValue) {
        if !self.overrides.contains_key(name) {
            self.script.variables.insert(name.to_owned(), value);
        }
    }

    /// A variable's new value. It is computed now, so later changes of variables in it have no
    /// effect.
    fn assigned(&mut self) -> Read<ScriptValue> {
        let (token, place) = (self.at.peek(), self.at.place());
        let kind = match token {
            Token::Word("randvar") => EntityKind::Randvar,
            Token::Word("cvar") => EntityKind::Cvar,
            _ => return self.value("`set`")?.settled(&self.script.variables, place),
        };
        self.at.next();
        self.at.expect('(', &token.shown())?;
        let random = self.entity(kind, place)?;
        self.at.expect(')', &token.shown())?;
        Ok(ScriptValue::Random(Box::new(random)))
    }

    fn define(&mut self, place: SourcePosition) -> Read<()> {
        let defined = match self.at.one_of(DEFINED, "`define`")? {
            "file" | "files" => self.entity(EntityKind::File, place)?,
            "fileset" | "filesets" => self.entity(EntityKind::Fileset, place)?,
            "flowop" => return self.composite(place),
            "randvar" => return self.old_randvar(place),
            _ => self.with_inner(EntityKind::Process, place)?,
        };
        self.script.whole.inner.push(defined);
        Ok(())
    }

    /// `define randvar name=$v,...`, the older form of `set $v=randvar(...)`.
    fn old_randvar(&mut self, place: SourcePosition) -> Read<()> {
        let random = self.entity(EntityKind::Randvar, place)?;
        let Some(ScriptValue::Variable(name)) = random.get("name").cloned() else {
            let help = "write `define randvar name=$size, ...`";
            return Err(error(place, "a random variable has no name", help));
        };
        self.script.note(place, "`define randvar`");
        self.assign(&name, ScriptValue::Random(Box::new(random)));
        Ok(())
    }

    fn composite(&mut self, place: SourcePosition) -> Read<()> {
        let composite = self.with_inner(EntityKind::Composite, place)?;
        let word = composite.needed("name")?;
        if self.flowops.split(' ').any(|it| it == word) {
            let message = format!("there is a flowop `{}` already", printable(&word));
            return Err(error(place, message, "give the composite another name"));
        }
        self.flowops += &format!(" {word}");
        self.composites.insert(word, composite);
        Ok(())
    }

    /// Attributes, then threads or flowops between braces, where a composite's own variables are
    /// known.
    fn with_inner(&mut self, kind: EntityKind, place: SourcePosition) -> Read<Entity> {
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
                "thread" => self.with_inner(EntityKind::Thread, place)?,
                _ => self.flowop(place)?,
            });
        }
        if let Some(before) = before {
            self.script.variables = before;
        }
        Ok(outer)
    }

    /// A flowop. A composite is expanded with the values of its variables.
    fn flowop(&mut self, place: SourcePosition) -> Read<Entity> {
        let (known, lacks) = (&self.flowops, "there is no flowop");
        let word = self.at.known("its kind", known, lacks, "`flowop`")?;
        let mut flowop = self.entity(EntityKind::Flowop, place)?;
        word.clone_into(&mut flowop.word);
        if let Some(mut composite) = self.composites.get(word).cloned() {
            // Composites may contain composites, so their expansion can be much longer than the
            // script.
            self.count(composite.count(), place)?;
            let own = &mut composite.locals;
            flowop.locals.retain(|name, _| own.contains_key(name));
            own.append(&mut flowop.locals);
            let mut inner = composite.inner.iter_mut();
            inner.try_for_each(|it| it.settle(own))?;
            (flowop.kind, flowop.inner) = (EntityKind::Composite, composite.inner);
        }
        Ok(flowop)
    }

    /// A text with its variables replaced by their current values.
    fn text(&mut self, behind: &str) -> Read<String> {
        let place = self.at.place();
        let text = self.at.quoted(behind)?;
        let look_up = |name: &str| self.script.variables.get(name).map(ScriptValue::shown);
        expand_variables(&text, look_up).map_err(|name| self.unset_variable_error(&name, place))
    }

    fn unset_variable_error(&self, name: &str, place: SourcePosition) -> Diagnostic {
        let known = self.script.variables.keys().map(String::as_str);
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `${near}`?"),
            None => format!("set it before, as in `set ${name}=10`"),
        };
        error(place, format!("`${name}` is used before it is set"), help)
    }

    /// A value, or a product of values.
    fn value(&mut self, behind: &str) -> Read<ScriptValue> {
        let mut value = self.factor(behind)?;
        while self.at.takes('*') {
            let place = self.at.place();
            value = ScriptValue::product(value, self.factor("`*`")?, place)?;
        }
        Ok(value)
    }

    fn factor(&mut self, behind: &str) -> Read<ScriptValue> {
        let is_known = |name| behind == LOCAL || self.script.variables.contains_key(name);
        let value = match self.at.peek() {
            Token::Number(number) => ScriptValue::Plain(number.to_string()),
            Token::Word(word) => ScriptValue::Plain(word.to_owned()),
            Token::Quoted(_) => return self.text(behind).map(ScriptValue::Plain),
            Token::Variable(name) if is_known(name) => ScriptValue::Variable(name.to_owned()),
            Token::Variable(name) => return Err(self.unset_variable_error(name, self.at.place())),
            Token::Mark(_) | Token::End => return Err(self.at.wanted("a value", behind)),
        };
        self.at.next();
        Ok(value)
    }

    /// Counts definitions and flowops.
    fn count(&mut self, more: usize, place: SourcePosition) -> Read<()> {
        self.entity_count += more;
        if self.entity_count <= ENTITIES_MAX {
            return Ok(());
        }
        let message = format!("there are more than {ENTITIES_MAX} definitions and flowops");
        Err(error(place, message, "define fewer, and use `iters`"))
    }

    /// Attributes separated by commas.
    fn entity(&mut self, kind: EntityKind, place: SourcePosition) -> Read<Entity> {
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
            && matches!(kind, EntityKind::Flowop | EntityKind::Composite)
        {
            self.at.next();
            let value = match self.at.takes('=') {
                true => self.value("a variable of a flowop")?,
                false if kind == EntityKind::Composite => ScriptValue::Variable(name.to_owned()),
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
            // In the language, an attribute without a value is a flag that is set.
            (false, _) => ScriptValue::Plain("true".to_owned()),
            // This variable is being defined, so it has no value yet.
            (true, "name") if kind == EntityKind::Randvar => self.value(LOCAL)?,
            (true, _) => self.value(&format!("`{name}`"))?,
        };
        let name = match name {
            // The language has two names for each of these attributes.
            "filename" => "filesetname",
            "filesize" => "size",
            name => name,
        };
        let what = format!("`{name}`");
        // Version 1.4 had these attributes, and published scripts still use them.
        if matches!(name, "cached" | "usermode") {
            self.script.note(place, &what);
        } else if entity.attributes.contains_key(name) {
            let note = "it is given twice; the first value is used";
            let difference = OriginalDifference::new(DifferenceKind::NoEffect, what, note);
            self.script.differences.push(difference.at(place.line));
        } else {
            let attribute = Attribute { value, place };
            entity.attributes.insert(name.to_owned(), attribute);
        }
        Ok(())
    }

    /// Rows of a table: `{{percent, least, most}, ...}`
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

/// Actions for a shell command line that only syncs and drops caches; `None` for any other.
fn commands(text: &str) -> Option<Vec<PhasePreparation>> {
    let text = text.replace("&&", ";");
    let parts = text.split(';').map(str::trim).filter(|it| !it.is_empty());
    let known: Option<Vec<PhasePreparation>> = parts.map(command).collect();
    known.filter(|it| !it.is_empty())
}

fn command(text: &str) -> Option<PhasePreparation> {
    // The shell needs no blanks around `>`.
    let text = text.replace('>', " > ");
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["sync" | "/bin/sync" | "/usr/bin/sync"] => Some(PhasePreparation::Sync),
        [
            "echo" | "/bin/echo",
            // 1 drops the page cache, and 3 also dentries and inodes. 2 would keep the page cache.
            "1" | "3",
            ">",
            "/proc/sys/vm/drop_caches",
        ] => Some(PhasePreparation::DropCaches),
        _ => None,
    }
}

/// The refusal of a command or flowop, with its reason.
pub(super) fn refused(word: &str, place: SourcePosition) -> Diagnostic {
    let mut known = rows(include_str!("refused.txt"));
    let [_, why, help] = known.find(|row| row[0] == word).unwrap_or_default();
    error(place, why, help)
}
