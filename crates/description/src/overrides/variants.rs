//! Options with several values: each workload is measured with every combination of them.

use plan::{Diagnostic, Variant, VariedSetting, printable};

use super::{AMOUNT_KEYS, Overrides, UnusedOptions};
use crate::model::Workload;

/// Maximum number of combinations; with the shortest useful run time, they take an hour.
const COMBINATIONS_MAX: usize = 1_000;

/// A key with several values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VariedKey {
    /// The key as it was given.
    pub key: String,
    values: Vec<String>,
}

impl VariedKey {
    /// Parses values that are separated by commas; `None` for a single value, for lists, tables and
    /// quoted texts in TOML, and for absolute paths, which are targets.
    pub fn read(key: &str, text: &str) -> Option<Self> {
        let is_toml = text.contains(['[', ']', '{', '}', '"', '\'']);
        let values: Vec<String> = text.split(',').map(|it| it.trim().to_owned()).collect();
        let is_path = values.iter().any(|it| it.starts_with('/'));
        (values.len() > 1 && !is_toml && !is_path).then(|| Self {
            key: key.to_owned(),
            values,
        })
    }

    /// The overrides with each of the values.
    ///
    /// # Errors
    /// A value that the key does not accept, or that is given twice. If no value is accepted, the
    /// text was not meant as several values, and `as_one` is the error.
    fn each(&self, base: &Overrides, as_one: &Diagnostic) -> Result<Vec<Overrides>, Diagnostic> {
        let mut accepted = Vec::with_capacity(self.values.len());
        let mut refused = None;
        for (index, value) in self.values.iter().enumerate() {
            if self.values[..index].contains(value) {
                let message = format!("`{}` is given twice for `{}`", printable(value), self.key);
                return Err(Diagnostic::error("", message).help("leave one of them out"));
            }
            let mut with_value = base.clone();
            match with_value.set_one(&self.key, value) {
                Ok(()) => accepted.push(with_value),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        match refused {
            None => Ok(accepted),
            Some(_) if accepted.is_empty() => Err(as_one.clone()),
            Some(error) => Err(error),
        }
    }
}

/// The overrides with one value for each key that has several.
pub(super) struct Combination {
    pub overrides: Overrides,
    settings: Vec<VariedSetting>,
}

impl Combination {
    /// Marks a workload with the values of this combination that affect it; `None` if none does.
    pub fn variant(&self, workload: &Workload, unused: &UnusedOptions) -> Option<Variant> {
        let settings = self.settings.iter();
        let settings = settings.filter(|it| !unused.is_here(&it.key)).cloned();
        let settings: Vec<VariedSetting> = settings.collect();
        (!settings.is_empty()).then(|| Variant {
            of: workload.name_or_default().to_owned(),
            settings,
        })
    }
}

impl Combination {
    /// Removes the known values of varying settings that these options replace.
    pub fn forget_replaced(&self, workload: &mut Workload) {
        let Some(mut varied) = workload.varied.take() else {
            return;
        };
        varied
            .settings
            .retain(|it| !self.overrides.replaces(&it.key));
        workload.varied = (!varied.settings.is_empty()).then_some(varied);
    }
}

impl Overrides {
    /// `true` if an option replaces the value of this key.
    fn replaces(&self, key: &str) -> bool {
        let is_amount = AMOUNT_KEYS.contains(&key);
        let mut options = self.table_options.iter();
        self.has(key)
            || is_amount && AMOUNT_KEYS.iter().any(|it| self.has(it))
            || options.any(|it| it.key == key)
    }

    /// Sets a key to several values.
    ///
    /// # Errors
    /// As for [`VariedKey::each`].
    pub(super) fn set_each(
        &mut self,
        key: VariedKey,
        as_one: &Diagnostic,
    ) -> Result<(), Diagnostic> {
        let mut variants = key.each(self, as_one)?;
        // The first value stands for all where only the presence of the key matters.
        let varied = std::mem::take(&mut self.varied);
        // Not empty, because `VariedKey::read` requires two values.
        *self = variants.swap_remove(0);
        self.varied = varied;
        self.varied.push(key);
        Ok(())
    }

    /// All combinations of the values, the last key varying fastest; a single one if no key has
    /// several values.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn combinations(&self) -> Result<Vec<Combination>, Diagnostic> {
        let counts = self.varied.iter().map(|it| it.values.len());
        let count = counts.fold(1, usize::saturating_mul);
        if count > COMBINATIONS_MAX {
            let message = format!(
                "the options ask for {count} combinations of values, more than {COMBINATIONS_MAX}"
            );
            return Err(Diagnostic::error("", message).help("use fewer values"));
        }
        let mut combinations = vec![Combination {
            overrides: Self {
                varied: Vec::new(),
                ..self.clone()
            },
            settings: Vec::new(),
        }];
        for VariedKey { key, values } in &self.varied {
            let mut longer = Vec::with_capacity(combinations.len() * values.len());
            for (combination, value) in combinations
                .iter()
                .flat_map(|it| values.iter().map(move |value| (it, value)))
            {
                let mut overrides = combination.overrides.clone();
                overrides.set_one(key, value)?;
                let setting = VariedSetting {
                    key: key.clone(),
                    value: value.clone(),
                };
                let settings = combination.settings.iter().cloned().chain([setting]);
                longer.push(Combination {
                    overrides,
                    settings: settings.collect(),
                });
            }
            combinations = longer;
        }
        Ok(combinations)
    }
}

impl Workload {
    /// Marks the workload as a variant, also in its name and title if reports would otherwise not
    /// show the difference. Variants belong to a pack with the name of the original workload.
    pub(crate) fn mark(&mut self, variant: Variant) {
        // All tables and titles show the number of workers.
        let settings = variant.settings.iter().filter(|it| it.key != "workers");
        let words: Vec<String> = settings
            .map(|it| format!("{}={}", it.key, it.value))
            .collect();
        self.pack.get_or_insert_with(|| variant.of.clone());
        if !words.is_empty() {
            let words = words.join(", ");
            self.name = Some(format!("{}, {words}", variant.of));
            if let Some(title) = &mut self.title {
                title.push_str(&format!(", {words}"));
            }
        }
        match &mut self.varied {
            // A workload of the command line already varies in its own options.
            Some(known) => known.settings.extend(variant.settings),
            None => self.varied = Some(Box::new(variant)),
        }
    }
}
