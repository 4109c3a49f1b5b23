//! Records turned into text, CSV and JSON.
