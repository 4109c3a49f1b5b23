//! Bytes, spans, rates and percents: parsed, printed and serialized in this one place.
