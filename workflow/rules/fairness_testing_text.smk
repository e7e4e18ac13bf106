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
        vectors="results/fairness_testing/text/vectors.npz",
    log:
        "results/logs/fairness_testing/train_text_vectors.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(READING.vectors, seed=config["seed"]),
        checksum=READING.vectors_checksum(),
    message:
        "get word vectors for networks that read texts"
    shell:
        "biaslab step fairness-testing.train-text-vectors --given {params.given:q} --threads {threads} > {log} 2>&1"


rule prepare_tested_texts:
    input:
        READING.texts,
        vectors=rules.train_text_vectors.output.vectors,
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
        given=given(
            READING.preparation,
            folder="results/fairness_testing/text-{texts}",
            seed=config["seed"],
        ),
    message:
        "{wildcards.texts}: find words, terms and neighbours"
    shell:
        "biaslab step fairness-testing.prepare-tested-texts --given {params.given:q} > {log} 2>&1"


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
        given=given(
            READING.training,
            folder="results/fairness_testing/text-{texts}",
            kinds=READING.models,
            **part(READING.section, "repetitions"),
            seed=config["seed"],
        ),
    message:
        "{wildcards.texts}: train networks that read"
    shell:
        "biaslab step fairness-testing.train-text-networks --given {params.given:q} > {log} 2>&1"


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
        given=given(
            folder="results/fairness_testing/text-{texts}",
            kind="{network}",
            **part(READING.section, "repetitions"),
            effort={**part(READING.section, "seeds", "hops"), "seed": config["seed"]},
        ),
    message:
        "{wildcards.texts}: search {wildcards.network} for discriminatory texts"
    shell:
        "biaslab step fairness-testing.search-text-networks --given {params.given:q} --threads {threads} > {log} 2>&1"


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
        given=given(
            READING.training,
            folder="results/fairness_testing/text-{texts}",
            kind="{network}",
            **part(READING.section, "retrainings"),
            share=READING.section["retraining_share"],
            n_independent=READING.section["independent"],
            seed=config["seed"],
        ),
    message:
        "{wildcards.texts}: retrain {wildcards.network} with what was found"
    shell:
        "biaslab step fairness-testing.retrain-text-networks --given {params.given:q} > {log} 2>&1"


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
        given=given(
            READING.weight,
            folder="results/fairness_testing/text-{texts}",
            kind="{network}",
            epochs=READING.section["certified_epochs"],
            n_independent=READING.section["independent"],
            seed=config["seed"],
        ),
    message:
        "{wildcards.texts}: train {wildcards.network} certifiably"
    shell:
        "biaslab step fairness-testing.certify-text-networks --given {params.given:q} > {log} 2>&1"


rule train_text_encoder:
    input:
        rules.prepare_tested_texts.output,
        READING.found,
        READING.encoder_files(),
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
        given=given(
            READING.weight,
            folder="results/fairness_testing/text-{texts}",
            kinds=READING.models,
            **part(READING.section, "pairs"),
            encoder=READING.encoder(),
            **part(READING.section["encoder"], "layers", "epochs"),
            seed=config["seed"],
        ),
    message:
        "{wildcards.texts}: fine-tune the encoder and test on it what was found"
    shell:
        "biaslab step fairness-testing.train-text-encoder --given {params.given:q} > {log} 2>&1"


rule measure_found_texts:
    input:
        READING.measured,
        READING.encoder_files(),
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
        given=given(
            folder="results/fairness_testing/text-{texts}",
            **part(READING.section, "models", "pairs"),
            encoder=READING.encoder(),
            further=READING.further(),
            seed=config["seed"],
        ),
    message:
        "{wildcards.texts}: measure how like their seeds the found texts are"
    shell:
        "biaslab step fairness-testing.measure-found-texts --given {params.given:q} --threads {threads} > {log} 2>&1"
