from biaslab.hate_speech.inputs import Inputs as HateSpeechInputs

HATE = HateSpeechInputs(PLAN)


wildcard_constraints:
    corpus="|".join(HATE.corpora),
    method=r"[a-z0-9.@-]+",
    number=r"\d+",


rule prepare_encoder:
    input:
        HATE.encoder_files,
    output:
        expand("results/hate_speech/encoder/{name}", name=["config.json", "vocab.txt", "model.safetensors"]),
    localrule: True
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(20),
    params:
        given=given(**HATE.encoder, out_folder="results/hate_speech/encoder", seed=config["seed"]),
    message:
        "prepare the encoder"
    shell:
        step("hate-speech.prepare-encoder")


rule prepare_texts:
    input:
        rules.prepare_encoder.output,
        HATE.source_files,
        HATE.probe_files,
        HATE.file("identifiers"),
    output:
        expand(
            "results/hate_speech/{{corpus}}/{name}",
            name=["texts.npz", "probes.npz", "probes.tsv", "corpus.tsv"],
        ),
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(HATE.folder, HATE.source, HATE.probes, seed=config["seed"]),
    message:
        "{wildcards.corpus}: split and tokenise the texts"
    shell:
        step("hate-speech.prepare-texts")


rule train_linear:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        HATE.source_files,
        HATE.file("identifiers"),
    output:
        expand("results/hate_speech/{{corpus}}/predictions/{method}.parquet", method=["bow", "bow-wr"]),
        expand("results/hate_speech/{{corpus}}/{name}.tsv", name=["linear", "linear_weights", "removal"]),
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(HATE.folder, HATE.source, HATE.linear),
    message:
        "{wildcards.corpus}: train linear classifiers"
    shell:
        step("hate-speech.train-linear")


rule train_language_model:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        HATE.file("identifiers"),
    output:
        expand("results/hate_speech/{{corpus}}/language_model.{suffix}", suffix=["safetensors", "tsv"]),
    priority: 2  # half of the trainings wait for it
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(600),
    params:
        given=given(HATE.folder, settings=HATE.section["language_model"], seed=config["seed"]),
    message:
        "{wildcards.corpus}: train the language model that samples contexts"
    shell:
        step("hate-speech.train-language-model")


rule train_classifier:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        rules.train_language_model.output,
        HATE.file("identifiers"),
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
        given=given(HATE.folder, "method", "number", HATE.training, seed=config["seed"]),
    message:
        "{wildcards.corpus}: train {wildcards.method}, seed {wildcards.number}"
    shell:
        step("hate-speech.train-classifier")


rule evaluate_encoders:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        rules.train_language_model.output,
        HATE.models,
        HATE.file("identifiers"),
    output:
        expand(
            "results/hate_speech/{{corpus}}/{file}",
            file=[
                *expand("predictions/{method}.parquet", method=HATE.encoders),
                *expand("attributions/{method}.tsv", method=HATE.encoders),
                "attributions.tsv",
                "cost.tsv",
            ],
        ),
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(720),
    params:
        given=given(HATE.folder, **HATE.evaluation, seed=config["seed"]),
    message:
        "{wildcards.corpus}: test all classifiers that fine-tune the encoder"
    shell:
        step("hate-speech.evaluate-encoders")


rule explain_classifiers:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        rules.train_language_model.output,
        expand("results/hate_speech/{{corpus}}/models/{method}/0/model.safetensors", method=HATE.explained),
        HATE.file("identifiers"),
        sentences=HATE.file("sentences"),
    output:
        "results/hate_speech/{corpus}/importance.tsv",
        "results/hate_speech/{corpus}/hierarchies.json",
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(HATE.folder, **HATE.explanation, seed=config["seed"]),
    message:
        "{wildcards.corpus}: explain the classifiers"
    shell:
        step("hate-speech.explain-classifiers")


rule measure_classifiers:
    input:
        rules.prepare_encoder.output,
        rules.prepare_texts.output,
        HATE.predictions,
        HATE.file("identifiers"),
    output:
        expand(
            "results/hate_speech/{{corpus}}/{name}.tsv",
            name=["metrics", "identity", "functionalities", "differences", "settings"],
        ),
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(HATE.folder, HATE.measurement),
    message:
        "{wildcards.corpus}: measure all classifiers"
    shell:
        step("hate-speech.measure-classifiers")


rule hate_speech:
    input:
        PLAN.report_files("hate_speech"),
        expand(
            [
                *rules.measure_classifiers.output,
                *expand(
                    "results/hate_speech/{{corpus}}/{name}.tsv",
                    name=["corpus", "linear", "linear_weights", "removal"],
                ),
            ],
            corpus=HATE.corpora,
        ),
        expand("results/hate_speech/{corpus}/importance.tsv", corpus=HATE.encoder_corpora),
        expand(rules.evaluate_encoders.output, corpus=HATE.encoder_corpora),
        HATE.histories,
    message:
        "all tables and figures of hate speech classifiers"
