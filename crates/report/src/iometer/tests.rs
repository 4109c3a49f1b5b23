use super::columns::HEADS;
