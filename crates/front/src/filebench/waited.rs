//! What threads wait for.

use workload::program::Tokens;

use super::page::Place;

/// What threads wait for, by name.
#[derive(Debug, Default)]
pub(super) struct Waited {
    pub tokens: Vec<Tokens>,
    pub known: Vec<Known>,
}

/// What is known of tokens besides.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// Whether a flowop waits for them.
    pub is_taken: bool,
    /// How many may lie there before who puts has to wait.
    pub highwater: u32,
    /// Whether who puts has to wait.
    pub is_blocking: bool,
    /// Where they are put.
    pub put_at: Option<Place>,
}

impl Waited {
    /// Those of that name.
    pub(super) fn number(&mut self, name: &str) -> usize {
        let known = self.tokens.iter().position(|it| it.name == name);
        known.unwrap_or_else(|| {
            self.known.push(Known::default());
            self.tokens.push(Tokens {
                name: name.to_owned(),
                counters: 1,
                start: 0,
                room: None,
                refill: None,
            });
            self.tokens.len() - 1
        })
    }

    /// The tokens of a script, once all its flowops are known; where one of them is put to a
    /// flowop that there is not.
    pub(super) fn finished(mut self) -> Result<Vec<Tokens>, (String, Place)> {
        for (tokens, known) in self.tokens.iter_mut().zip(&self.known) {
            match known.put_at {
                Some(place) if !known.is_taken => return Err((tokens.name.clone(), place)),
                _ if known.is_blocking => tokens.room = Some(known.highwater),
                _ => {}
            }
        }
        Ok(self.tokens)
    }
}
