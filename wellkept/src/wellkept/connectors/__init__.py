"""Other services whose texts memory keeps as what they are: from outside."""
