mod goldens;
mod memory;
mod texts;
