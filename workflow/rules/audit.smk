rule audit:
    input:
        rules.origins.input,
    message:
        "the audit of every published claim"
