//! Enumerations of the words that an option accepts.

/// Defines an enumeration and the words for each of its variants.
macro_rules! choices {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$of_variant:meta])* $variant:ident = $($word:literal)|+),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub enum $name { $($(#[$of_variant])* $variant),+ }

        impl $name {
            /// Parses the word before the first colon, or the whole text if there is no colon.
            pub(in crate::fio) fn of(text: &str) -> Option<Self> {
                match text.split(':').next().unwrap_or_default().trim() {
                    $($($word)|+ => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
