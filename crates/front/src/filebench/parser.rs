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
const CREATE_WORDS: &str = "file files fileset filesets process processes";
pub(super) const DEFINE_WORDS: &str =
    "file files fileset filesets process processes flowop randvar";
/// Limit on definitions and flowops in a script, with composites expanded.
const ENTITIES_MAX: usize = 20_000;
/// Maximum number of mistakes listed.
const MISTAKES_MAX: usize = 50;
/// After this text, a variable need not be set.
const VARIABLE_NAME: &str = "the name of a variable";

const LANGUAGE: Language = Language {
    marks: "{}()=,*",
    begins_word: |it| it.is_ascii_alphabetic() || "-/".contains(it),
    is_in_word: |it| it.is_ascii_alphanumeric() || "/._:;-".contains(it),
    is_script: true,
};

/// Position among the tokens of a script, and everything parsed so far.
struct Parser<'a> {
    cursor: TokenCursor<'a>,
    script: Script,
    /// Values of variables that the script cannot change.
    overrides: &'a BTreeMap<String, String>,
    /// Names of all flowops, separated by blanks, including composites.
    flowops: String,
    composites: BTreeMap<String, Entity>,
    entity_count: usize,
    /// Mistakes after which parsing continued.
    mistakes: Vec<Diagnostic>,
}

/// Parses a script up to the command that runs it.
///
/// # Errors
/// All refused or unknown words and unset variables, and the first mistake in the syntax.
pub(super) fn parse(text: &str, overrides: &BTreeMap<String, String>) -> Read<Script> {
    let variables = overrides.iter();
    let variables = variables.map(|(name, text)| (name.clone(), ScriptValue::Plain(text.clone())));
    let mut parser = Parser {
        cursor: TokenCursor::new(LANGUAGE.tokens(text)?),
        script: Script {
            variables: variables.collect(),
            ..Script::default()
        },
        overrides,
        flowops: EntityKind::Flowop.row()[2].to_owned(),
        composites: BTreeMap::new(),
        entity_count: 0,
        mistakes: Vec::new(),
    };
    let mut may_follow = Ok(true);
    while parser.cursor.peek() != Token::End && matches!(may_follow, Ok(true)) {
        may_follow = parser.command();
    }
    parser.mistakes.extend(may_follow.err());
    Diagnostic::all(parser.mistakes).map_or(Ok(parser.script), Err)
}

impl Parser<'_> {
    /// Parses a command and returns `true` if another one may follow.
    fn command(&mut self) -> Read<bool> {
        let position = self.cursor.place();
        let (known, lacks) = (EntityKind::Script.row()[2], "there is no command");
        let (word, unknown) = self.cursor.known("a command", known, lacks, "a script")?;
        if let Some(unknown) = unknown {
            self.skip_command(unknown);
            return Ok(true);
        }
        self.script.note(position, &format!("`{word}`"));
        match word {
            "set" => self.set()?,
            "define" => self.define(position)?,
            "create" => {
                self.cursor.one_of(CREATE_WORDS, "`create`")?;
                self.script.is_created = true;
            }
            "system" => self.system(position)?,
            "run" | "psrun" => {
                if word == "psrun" {
                    // The interval of statistics is not used here.
                    // It is optional, so a missing number is no error.
                    let _ = self.cursor.number("`psrun`");
                }
                let is_timed = matches!(self.cursor.peek(), Token::Number(_) | Token::Variable(_));
                let time = is_timed.then(|| self.value("`run`")).transpose()?;
                let value = time.unwrap_or(ScriptValue::Plain("0".to_owned()));
                let run = Attribute { value, position };
                self.script.root.attributes.insert("run".to_owned(), run);
                // The original exits after the run, so it ignores all that follows.
                return Ok(false);
            }
            "eventgen" => {
                let eventgen = self.entity(EntityKind::Eventgen, position)?;
                self.script.root.attributes.extend(eventgen.attributes);
            }
            "echo" => {
                let text = self.text("`echo`")?;
                self.script.echoes.push(text);
            }
            // These commands only print or wait, which has no effect on the measured phase.
            "usage" => drop(self.cursor.quoted("`usage`")?),
            "sleep" => drop(self.value("`sleep`")?),
            "list" => drop(self.cursor.one_of("fileset flowop", "`list`")?),
            "debug" => drop(self.cursor.number("`debug`")?),
            "version" => {}
            "quit" => return Ok(false),
            "enable" => {
                let position = self.cursor.place();
                if self.cursor.one_of("lathist multi", "`enable`")? == "multi" {
                    self.skip_command(refused("domultisync", position));
                    return Ok(true);
                }
                self.script.note(position, "`lathist`");
            }
            _ => self.skip_command(refused(word, position)),
        }
        Ok(true)
    }

    /// Records a mistake after which parsing continues.
    fn record(&mut self, mistake: impl Into<Option<Diagnostic>>) {
        let room = MISTAKES_MAX - self.mistakes.len();
        self.mistakes.extend(mistake.into().into_iter().take(room));
    }

    /// Records a mistake and continues at the next line that begins with a command.
    fn skip_command(&mut self, mistake: Diagnostic) {
        self.record(mistake);
        let commands = EntityKind::Script.row()[2];
        self.cursor
            .skip_lines(|word| commands.split(' ').any(|it| it == word));
    }

    /// Accepts the commands of published scripts that pgmeter performs itself: sync and dropping
    /// caches.
    fn system(&mut self, position: SourcePosition) -> Read<()> {
        let text = self.cursor.quoted("`system`")?;
        let Some(actions) = commands(&text) else {
            self.record(refused("system", position));
            return Ok(());
        };
        match self.script.is_created {
            // Files exist after `create`, so dropping caches removes the pages of their creation.
            true => self.script.preparations.extend(actions),
            false => self.script.note(position, "`system` before `create`"),
        }
        Ok(())
    }

    fn set(&mut self) -> Read<()> {
        let position = self.cursor.place();
        match self.cursor.next() {
            Token::Variable(name) => {
                self.cursor.expect('=', "`set`")?;
                let value = self.assigned()?;
                self.assign(name, value);
            }
            Token::Word("mode") => {
                if self.cursor.one_of("quit nousestats", "`set mode`")? == "quit" {
                    let modes = "timeout alldone firstdone";
                    let mode = self.cursor.one_of(modes, "`set mode quit`")?;
                    self.script.mode = mode.to_owned();
                }
            }
            token => {
                let message = format!("`set` cannot set {}", token.shown());
                let help = "write `set $name=value`, or `set mode quit firstdone`";
                return Err(error(position, message, help));
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
        let (token, place) = (self.cursor.peek(), self.cursor.place());
        let kind = match token {
            Token::Word("randvar") => EntityKind::Randvar,
            Token::Word("cvar") => EntityKind::Cvar,
            _ => return self.value("`set`")?.settled(&self.script.variables, place),
        };
        self.cursor.next();
        self.cursor.expect('(', &token.shown())?;
        let random = self.entity(kind, place)?;
        self.cursor.expect(')', &token.shown())?;
        Ok(ScriptValue::Random(Box::new(random)))
    }

    fn define(&mut self, position: SourcePosition) -> Read<()> {
        let defined = match self.cursor.one_of(DEFINE_WORDS, "`define`")? {
            "file" | "files" => self.entity(EntityKind::File, position)?,
            "fileset" | "filesets" => self.entity(EntityKind::Fileset, position)?,
            "flowop" => return self.composite(position),
            "randvar" => return self.old_randvar(position),
            _ => self.with_inner(EntityKind::Process, position)?,
        };
        self.script.root.children.push(defined);
        Ok(())
    }

    /// `define randvar name=$v,...`, the older form of `set $v=randvar(...)`.
    fn old_randvar(&mut self, position: SourcePosition) -> Read<()> {
        let random = self.entity(EntityKind::Randvar, position)?;
        let Some(ScriptValue::Variable(name)) = random.get("name").cloned() else {
            let help = "write `define randvar name=$size, ...`";
            return Err(error(position, "a random variable has no name", help));
        };
        self.script.note(position, "`define randvar`");
        self.assign(&name, ScriptValue::Random(Box::new(random)));
        Ok(())
    }

    fn composite(&mut self, position: SourcePosition) -> Read<()> {
        let composite = self.with_inner(EntityKind::Composite, position)?;
        let word = composite.needed("name")?;
        if self.flowops.split(' ').any(|it| it == word) {
            let message = format!("there is a flowop `{}` already", printable(&word));
            return Err(error(position, message, "give the composite another name"));
        }
        self.flowops += &format!(" {word}");
        self.composites.insert(word, composite);
        Ok(())
    }

    /// Attributes, then threads or flowops between braces, where a composite's own variables are
    /// known.
    fn with_inner(&mut self, kind: EntityKind, position: SourcePosition) -> Read<Entity> {
        let mut outer = self.entity(kind, position)?;
        let has_own = !outer.locals.is_empty();
        let before = has_own.then(|| self.script.variables.clone());
        self.script.variables.extend(outer.locals.clone());
        let [called, _, inside] = kind.row();
        let context = format!("a {called}");
        self.cursor.expect('{', &context)?;
        while !self.cursor.takes('}') {
            let position = self.cursor.place();
            outer
                .children
                .push(match self.cursor.one_of(inside, &context)? {
                    "thread" => self.with_inner(EntityKind::Thread, position)?,
                    _ => self.flowop(position)?,
                });
        }
        if let Some(before) = before {
            self.script.variables = before;
        }
        Ok(outer)
    }

    /// A flowop. A composite is expanded with the values of its variables.
    fn flowop(&mut self, position: SourcePosition) -> Read<Entity> {
        let (known, lacks) = (&self.flowops, "there is no flowop");
        let (word, unknown) = self.cursor.known("its kind", known, lacks, "`flowop`")?;
        self.record(unknown);
        if matches!(word, "print" | "testrandvar") {
            self.record(refused(word, position));
        }
        let mut flowop = self.entity(EntityKind::Flowop, position)?;
        word.clone_into(&mut flowop.operation);
        if let Some(mut composite) = self.composites.get(word).cloned() {
            // Composites may contain composites, so their expansion can be much longer than the
            // script.
            self.count(composite.count(), position)?;
            let own = &mut composite.locals;
            flowop.locals.retain(|name, _| own.contains_key(name));
            own.append(&mut flowop.locals);
            let mut inner = composite.children.iter_mut();
            inner.try_for_each(|it| it.settle(own))?;
            (flowop.kind, flowop.children) = (EntityKind::Composite, composite.children);
        }
        Ok(flowop)
    }

    /// A text with its variables replaced by their current values.
    fn text(&mut self, context: &str) -> Read<String> {
        let position = self.cursor.place();
        let text = self.cursor.quoted(context)?;
        let look_up = |name: &str| self.script.variables.get(name).map(ScriptValue::shown);
        expand_variables(&text, look_up).or_else(|name| {
            self.record_unset(&name, position);
            Ok(text)
        })
    }

    /// Records that a variable is not set. It then counts as set, so each is recorded once.
    fn record_unset(&mut self, name: &str, position: SourcePosition) {
        self.record(self.unset_variable_error(name, position));
        let any = ScriptValue::Plain("1".to_owned());
        self.script.variables.insert(name.to_owned(), any);
    }

    fn unset_variable_error(&self, name: &str, position: SourcePosition) -> Diagnostic {
        let known = self.script.variables.keys().map(String::as_str);
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `${near}`?"),
            None => format!("set it before, as in `set ${name}=10`"),
        };
        error(
            position,
            format!("`${name}` is used before it is set"),
            help,
        )
    }

    /// A value, or a product of values.
    fn value(&mut self, context: &str) -> Read<ScriptValue> {
        let mut value = self.factor(context)?;
        while self.cursor.takes('*') {
            let position = self.cursor.place();
            value = ScriptValue::product(value, self.factor("`*`")?, position)?;
        }
        Ok(value)
    }

    fn factor(&mut self, context: &str) -> Read<ScriptValue> {
        let is_known = |name| context == VARIABLE_NAME || self.script.variables.contains_key(name);
        let value = match self.cursor.peek() {
            Token::Number(number) => ScriptValue::Plain(number.to_string()),
            Token::Word(word) => ScriptValue::Plain(word.to_owned()),
            Token::Quoted(_) => return self.text(context).map(ScriptValue::Plain),
            Token::Variable(name) if is_known(name) => ScriptValue::Variable(name.to_owned()),
            Token::Variable(name) => {
                self.record_unset(name, self.cursor.place());
                ScriptValue::Variable(name.to_owned())
            }
            Token::Mark(_) | Token::End => return Err(self.cursor.wanted("a value", context)),
        };
        self.cursor.next();
        Ok(value)
    }

    /// Counts definitions and flowops.
    fn count(&mut self, more: usize, position: SourcePosition) -> Read<()> {
        self.entity_count += more;
        if self.entity_count <= ENTITIES_MAX {
            return Ok(());
        }
        let message = format!("there are more than {ENTITIES_MAX} definitions and flowops");
        Err(error(position, message, "define fewer, and use `iters`"))
    }

    /// Attributes separated by commas.
    fn entity(&mut self, kind: EntityKind, position: SourcePosition) -> Read<Entity> {
        self.count(1, position)?;
        let mut entity = Entity {
            kind,
            position,
            ..Entity::default()
        };
        self.attribute(&mut entity)?;
        while self.cursor.takes(',') {
            self.attribute(&mut entity)?;
        }
        Ok(entity)
    }

    fn attribute(&mut self, entity: &mut Entity) -> Read<()> {
        let (kind, place) = (entity.kind, self.cursor.place());
        if let Token::Variable(name) = self.cursor.peek()
            && matches!(kind, EntityKind::Flowop | EntityKind::Composite)
        {
            self.cursor.next();
            let value = match self.cursor.takes('=') {
                true => self.value("a variable of a flowop")?,
                false if kind == EntityKind::Composite => ScriptValue::Variable(name.to_owned()),
                false => return Ok(()),
            };
            entity.locals.insert(name.to_owned(), value);
            return Ok(());
        }
        let [called, known, _] = kind.row();
        let context = format!("a {called}");
        let missing = format!("{context} has no attribute");
        let (name, unknown) = self
            .cursor
            .known("an attribute", known, &missing, &context)?;
        self.record(unknown);
        let value = match (self.cursor.takes('='), name) {
            (_, "randtable") => return self.table(&mut entity.table),
            // In the language, an attribute without a value is a flag that is set.
            (false, _) => ScriptValue::Plain("true".to_owned()),
            // This variable is being defined, so it has no value yet.
            (true, "name") if kind == EntityKind::Randvar => self.value(VARIABLE_NAME)?,
            (true, _) => self.value(&format!("`{name}`"))?,
        };
        let name = match name {
            // The language has two names for each of these attributes.
            "filename" => "filesetname",
            "filesize" => "size",
            name => name,
        };
        let subject = format!("`{name}`");
        if name == "dirdepthrv" {
            self.record(refused(name, place));
        }
        // Version 1.4 had these attributes, and published scripts still use them.
        if matches!(name, "cached" | "usermode") {
            self.script.note(place, &subject);
        } else if entity.attributes.contains_key(name) {
            let note = "it is given twice; the first value is used";
            let difference = OriginalDifference::new(DifferenceKind::NoEffect, subject, note);
            self.script.differences.push(difference.at(place.line));
        } else {
            let attribute = Attribute {
                value,
                position: place,
            };
            entity.attributes.insert(name.to_owned(), attribute);
        }
        Ok(())
    }

    /// Rows of a table: `{{percent, min, max}, ...}`
    fn table(&mut self, rows: &mut Vec<[i64; 3]>) -> Read<()> {
        let context = "`randtable`";
        rows.clear();
        self.cursor.expect('{', context)?;
        loop {
            self.cursor.expect('{', context)?;
            let mut row = [0; 3];
            for (number, mark) in row.iter_mut().zip([',', ',', '}']) {
                *number = self.cursor.number(context)?;
                self.cursor.expect(mark, context)?;
            }
            rows.push(row);
            if !self.cursor.takes(',') {
                return self.cursor.expect('}', context);
            }
        }
    }
}

/// Actions for a shell command line that only syncs and drops caches; `None` for any other.
fn commands(text: &str) -> Option<Vec<PhasePreparation>> {
    let text = text.replace("&&", ";");
    let parts = text.split(';').map(str::trim).filter(|it| !it.is_empty());
    let actions: Option<Vec<PhasePreparation>> = parts.map(command).collect();
    actions.filter(|it| !it.is_empty())
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
pub(super) fn refused(word: &str, position: SourcePosition) -> Diagnostic {
    let mut known = rows(include_str!("refused.txt"));
    let [_, why, help] = known.find(|row| row[0] == word).unwrap_or_default();
    error(position, why, help)
}
