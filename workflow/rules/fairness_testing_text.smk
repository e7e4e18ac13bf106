# Networks that read texts (Zhang et al. 2021, the text part).
from biaslab.fairness_testing.text.inputs import TextInputs

READING = TextInputs(PLAN)


wildcard_constraints:
    texts="|".join(READING.corpora),
    network="|".join(READING.models),


rule train_text_vectors:
    input:
        source=READING.vectors_source(),
    output:
        "results/fairness_testing/text/vectors.npz",
    log:
        "results/logs/fairness_testing/train_text_vectors.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        options=READING.vectors_options(),
        checksum=READING.vectors_checksum(),
        seed=config["seed"],
    message:
        "get word vectors for networks that read texts"
    shell:
        "biaslab fairness-testing text experiment vectors {input.source:q} {params.options} --seed {params.seed}"
        " --threads {threads} --out {output} > {log} 2>&1"


rule prepare_tested_texts:
    input:
        READING.texts,
        vectors=rules.train_text_vectors.output,
        terms=READING.file("terms"),
        sentences=READING.file("sentences"),
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{file}",
            file=["lexicon.npz", "texts.npz", "texts.tsv", "vectors.tsv"],
        ),
    log:
        "results/logs/fairness_testing/text-{texts}/prepare_tested_texts.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(120),
    params:
        folder=folder("results/fairness_testing/text-{texts}"),
        options=READING.prepare_options,
        seed=config["seed"],
    message:
        "{wildcards.texts}: find words, terms and neighbours"
    shell:
        "biaslab fairness-testing text experiment prepare {params.folder}"
        " --vectors {input.vectors} {params.options} --seed {params.seed} > {log} 2>&1"


rule train_text_networks:
    input:
        rules.prepare_tested_texts.output,
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{network}/{file}",
            network=READING.models,
            file=[*READING.weights(), "models.tsv", "training.tsv"],
        ),
    log:
        "results/logs/fairness_testing/text-{texts}/train_text_networks.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(480),
    params:
        folder=folder("results/fairness_testing/text-{texts}"),
        options=READING.training_options,
        repetitions=READING.options("models", "repetitions"),
        seed=config["seed"],
    message:
        "{wildcards.texts}: train networks that read"
    shell:
        "biaslab fairness-testing text experiment train {params.folder}"
        " {params.repetitions} {params.options} --seed {params.seed} > {log} 2>&1"


rule search_text_networks:
    input:
        rules.prepare_tested_texts.output,
        rules.train_text_networks.output,
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{{network}}/{file}",
            file=READING.searched,
        ),
    log:
        "results/logs/fairness_testing/text-{texts}/search_text_networks/{network}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(1440),
    params:
        folder=folder("results/fairness_testing/text-{texts}"),
        options=READING.options("repetitions", "seeds", "hops"),
        seed=config["seed"],
    message:
        "{wildcards.texts}: search {wildcards.network} for discriminatory texts"
    shell:
        "biaslab fairness-testing text experiment search {params.folder}"
        " --model {wildcards.network} {params.options} --seed {params.seed} --threads {threads} > {log} 2>&1"


rule retrain_text_networks:
    input:
        rules.prepare_tested_texts.output,
        rules.train_text_networks.output,
        rules.search_text_networks.output,
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{{network}}/{file}",
            file=["retraining.tsv", "unseen.tsv"],
        ),
    log:
        "results/logs/fairness_testing/text-{texts}/retrain_text_networks/{network}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(480),
    params:
        folder=folder("results/fairness_testing/text-{texts}"),
        options=READING.options("retrainings", "retraining_share", "independent"),
        training=READING.training_options,
        seed=config["seed"],
    message:
        "{wildcards.texts}: retrain {wildcards.network} with what was found"
    shell:
        "biaslab fairness-testing text experiment retrain {params.folder}"
        " --model {wildcards.network} {params.options} {params.training} --seed {params.seed} > {log} 2>&1"


rule certify_text_networks:
    input:
        rules.prepare_tested_texts.output,
        rules.train_text_networks.output,
        rules.search_text_networks.output,
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{{network}}/{file}",
            file=["certified.tsv", "unseen_certified.tsv"],
        ),
    log:
        "results/logs/fairness_testing/text-{texts}/certify_text_networks/{network}.log",
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(480),
    params:
        folder=folder("results/fairness_testing/text-{texts}"),
        options=READING.options("certified_epochs", "independent"),
        training=READING.training_options,
        seed=config["seed"],
    message:
        "{wildcards.texts}: train {wildcards.network} certifiably"
    shell:
        "biaslab fairness-testing text experiment certify {params.folder}"
        " --model {wildcards.network} {params.options} {params.training} --seed {params.seed} > {log} 2>&1"


rule train_text_encoder:
    input:
        rules.prepare_tested_texts.output,
        READING.found,
        **READING.encoder_files(),
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/encoder/{file}",
            file=["models.tsv", "agreement.tsv"],
        ),
    log:
        "results/logs/fairness_testing/text-{texts}/train_text_encoder.log",
    conda:
        NEURAL
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(240),
    params:
        folder=folder("results/fairness_testing/text-{texts}"),
        options=READING.options("models", "pairs"),
        encoder=READING.encoder_options(),
        training=READING.fine_tuning_options,
        seed=config["seed"],
    message:
        "{wildcards.texts}: fine-tune the encoder and test on it what was found"
    shell:
        "biaslab fairness-testing text experiment encoder {params.folder}"
        " {params.options} {params.encoder} {params.training} --seed {params.seed} > {log} 2>&1"


rule measure_found_texts:
    input:
        READING.measured,
        **READING.encoder_files(),
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{file}",
            file=READING.joined,
        ),
    log:
        "results/logs/fairness_testing/text-{texts}/measure_found_texts.log",
    conda:
        NEURAL if READING.is_neural else ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(240),
    params:
        folder=folder("results/fairness_testing/text-{texts}"),
        options=READING.measure_options(),
        encoder=READING.encoder_options(),
        seed=config["seed"],
    message:
        "{wildcards.texts}: measure how like their seeds the found texts are"
    shell:
        "biaslab fairness-testing text experiment measure {params.folder}"
        " {params.options} {params.encoder} --seed {params.seed} --threads {threads} > {log} 2>&1"
