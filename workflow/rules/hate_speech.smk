from biaslab.hate_speech.inputs import Inputs as HateSpeechInputs

HATE = HateSpeechInputs(PLAN)


wildcard_constraints:
    corpus="|".join(HATE.corpora),
    method=r"[a-z0-9.@-]+",
    number=r"\d+",


rule prepare_encoder:
    input:
        **HATE.encoder_files(),
    output:
        expand("results/hate_speech/encoder/{name}", name=["config.json", "vocab.txt", "model.safetensors"]),
    log:
        "results/logs/hate_speech/prepare_encoder.log",
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(20),
    params:
        folder=folder("results/hate_speech/encoder"),
        options=HATE.encoder_options(),
        seed=config["seed"],
    message:
        "prepare the encoder"
    shell:
        "biaslab hate-speech experiment encoder {params.options} --seed {params.seed}"
        " --out {params.folder} > {log} 2>&1"


rule prepare_texts:
    input:
        rules.prepare_encoder.output,
        HATE.source_files,
        HATE.probe_files,
        identifiers=HATE.file("identifiers"),
    output:
        expand(
            "results/hate_speech/{{corpus}}/{name}",
            name=["texts.npz", "probes.npz", "probes.tsv", "corpus.tsv"],
        ),
    log:
        "results/logs/hate_speech/{corpus}/prepare_texts.log",
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        folder=folder("results/hate_speech/{corpus}"),
        encoder=folder("results/hate_speech/encoder"),
        source=HATE.source_options,
        probes=HATE.probe_options,
        seed=config["seed"],
    message:
        "{wildcards.corpus}: split and tokenise the texts"
    shell:
        "biaslab hate-speech experiment texts {params.folder}"
        " --encoder {params.encoder} --identifiers {input.identifiers:q} {params.source} {params.probes}"
        " --seed {params.seed} > {log} 2>&1"


rule train_linear:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        HATE.source_files,
        identifiers=HATE.file("identifiers"),
    output:
        expand("results/hate_speech/{{corpus}}/predictions/{method}.parquet", method=["bow", "bow-wr"]),
        expand("results/hate_speech/{{corpus}}/{name}.tsv", name=["linear", "linear_weights", "removal"]),
    log:
        "results/logs/hate_speech/{corpus}/train_linear.log",
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        folder=folder("results/hate_speech/{corpus}"),
        encoder=folder("results/hate_speech/encoder"),
        source=HATE.source_options,
        options=HATE.keys(None, "linear_splits", "removal_subsets"),
        weight=HATE.weight,
        seed=config["seed"],
    message:
        "{wildcards.corpus}: train linear classifiers"
    shell:
        "biaslab hate-speech experiment linear {params.folder}"
        " --encoder {params.encoder} --identifiers {input.identifiers:q} {params.source}"
        " {params.options} {params.weight} --seed {params.seed} > {log} 2>&1"


rule train_language_model:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        identifiers=HATE.file("identifiers"),
    output:
        expand("results/hate_speech/{{corpus}}/language_model.{suffix}", suffix=["safetensors", "tsv"]),
    log:
        "results/logs/hate_speech/{corpus}/train_language_model.log",
    priority: 2  # half of the trainings wait for it
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(600),
    params:
        folder=folder("results/hate_speech/{corpus}"),
        encoder=folder("results/hate_speech/encoder"),
        options=HATE.keys("language_model", "epochs", "learning_rate", "width", "vocabulary"),
        seed=config["seed"],
    message:
        "{wildcards.corpus}: train the language model that samples contexts"
    shell:
        "biaslab hate-speech experiment language-model {params.folder}"
        " --encoder {params.encoder} --identifiers {input.identifiers:q} {params.options}"
        " --seed {params.seed} --threads {threads} > {log} 2>&1"


rule train_classifier:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        rules.train_language_model.output,
        identifiers=HATE.file("identifiers"),
    output:
        expand(
            "results/hate_speech/{{corpus}}/models/{{method}}/{{number}}/{name}",
            name=["config.json", "vocab.txt", "model.safetensors", "history.tsv"],
        ),
    log:
        "results/logs/hate_speech/{corpus}/train_classifier/{method}-{number}.log",
    priority: 1  # long, and all others wait for it
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(720),
    params:
        folder=folder("results/hate_speech/{corpus}"),
        encoder=folder("results/hate_speech/encoder"),
        options=HATE.keys(
            "training",
            "schedule",
            "epochs",
            "batch_size",
            "learning_rate",
            "validate_every",
            "halvings",
            "stop",
        ),
        contexts=HATE.keys("regularization", "radius", "samples", "add_itself"),
        weight=HATE.weight,
        seed=config["seed"],
    message:
        "{wildcards.corpus}: train {wildcards.method}, seed {wildcards.number}"
    shell:
        "biaslab hate-speech experiment train {params.folder}"
        " --encoder {params.encoder} --identifiers {input.identifiers:q}"
        " --method {wildcards.method} --number {wildcards.number} {params.options} {params.contexts}"
        " {params.weight} --seed {params.seed} --threads {threads} > {log} 2>&1"


rule evaluate_classifiers:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        rules.train_language_model.output,
        HATE.models,
        identifiers=HATE.file("identifiers"),
    output:
        "results/hate_speech/{corpus}/predictions/{method}.parquet",
        "results/hate_speech/{corpus}/attributions/{method}.tsv",
        "results/hate_speech/{corpus}/faithfulness/{method}.tsv",
    log:
        "results/logs/hate_speech/{corpus}/evaluate_classifiers/{method}.log",
    wildcard_constraints:
        method=HATE.encoder_pattern,
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(240),
    params:
        folder=folder("results/hate_speech/{corpus}"),
        encoder=folder("results/hate_speech/encoder"),
        numbers=HATE.numbers_options,
        contexts=HATE.keys("analysis", "radius", "samples", "faithful_sentences"),
        seed=config["seed"],
    message:
        "{wildcards.corpus}: test {wildcards.method}"
    shell:
        "biaslab hate-speech experiment evaluate {params.folder}"
        " --encoder {params.encoder} --identifiers {input.identifiers:q}"
        " --method {wildcards.method} {params.numbers} {params.contexts} --seed {params.seed}"
        " --threads {threads} > {log} 2>&1"


rule explain_classifiers:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        rules.train_language_model.output,
        HATE.first_models,
        identifiers=HATE.file("identifiers"),
        sentences=HATE.file("sentences"),
    output:
        "results/hate_speech/{corpus}/importance.tsv",
        "results/hate_speech/{corpus}/hierarchies.json",
    log:
        "results/logs/hate_speech/{corpus}/explain_classifiers.log",
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        folder=folder("results/hate_speech/{corpus}"),
        encoder=folder("results/hate_speech/encoder"),
        methods=",".join(HATE.explained),
        contexts=HATE.keys("analysis", "radius", "samples"),
        n=config["hate_speech"]["analysis"]["sentences"],
        seed=config["seed"],
    message:
        "{wildcards.corpus}: explain the classifiers"
    shell:
        "biaslab hate-speech experiment explain {params.folder}"
        " --encoder {params.encoder} --identifiers {input.identifiers:q}"
        " --sentences {input.sentences:q} --methods {params.methods} --n {params.n} {params.contexts}"
        " --seed {params.seed} --threads {threads} > {log} 2>&1"


rule measure_classifiers:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        expand("results/hate_speech/{{corpus}}/predictions/{method}.parquet", method=HATE.methods),
        expand(
            "results/hate_speech/{{corpus}}/{kind}/{method}.tsv",
            kind=["attributions", "faithfulness"],
            method=HATE.encoders,
        ),
        identifiers=HATE.file("identifiers"),
    output:
        expand(
            "results/hate_speech/{{corpus}}/{name}.tsv",
            name=[
                "metrics",
                "identity",
                "functionalities",
                "differences",
                "attributions",
                "faithfulness",
                "held_out",
                "cost",
                "settings",
            ],
        ),
    log:
        "results/logs/hate_speech/{corpus}/measure_classifiers.log",
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        folder=folder("results/hate_speech/{corpus}"),
        encoder=folder("results/hate_speech/encoder"),
        methods=",".join(HATE.methods),
        batch_size=HATE.keys("training", "batch_size"),
        contexts=HATE.keys("regularization", "radius", "samples", "add_itself"),
        settings=HATE.settings,
    message:
        "{wildcards.corpus}: measure all classifiers"
    shell:
        "biaslab hate-speech experiment measure {params.folder}"
        " --encoder {params.encoder} --identifiers {input.identifiers:q} --methods {params.methods}"
        " {params.batch_size} {params.contexts} {params.settings} > {log} 2>&1"


rule hate_speech:
    input:
        rules.report_hate_speech.output,
        expand(rules.measure_classifiers.output, corpus=HATE.corpora),
    message:
        "all tables and figures of hate speech classifiers"
