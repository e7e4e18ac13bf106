# Networks that read texts (Zhang et al. 2021, the text part).
from biaslab.fairness_testing.inputs import TextInputs

READING = TextInputs(PLAN)


wildcard_constraints:
    texts="|".join(READING.corpora),
    network="|".join(READING.models),


rule train_text_vectors:
    input:
        source=READING.vectors_source(),
    output:
        vectors="results/fairness_testing/text/vectors.npz",
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(READING.vectors, seed=config["seed"]),
        checksum=READING.vectors_checksum(),
    message:
        "get word vectors for networks that read texts"
    shell:
        step("fairness-testing.train-text-vectors")


rule prepare_tested_texts:
    input:
        lambda wildcards: list(READING.texts(wildcards).values()),
        vectors=rules.train_text_vectors.output.vectors,
        terms=READING.file("terms"),
        sentences=READING.file("sentences"),
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{file}",
            file=["lexicon.npz", "texts.npz", "texts.tsv", "vectors.tsv"],
        ),
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
        step("fairness-testing.prepare-tested-texts")


rule train_text_networks:
    input:
        rules.prepare_tested_texts.output,
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{network}/{file}",
            network=READING.models,
            file=[*READING.weights, "models.tsv", "training.tsv"],
        ),
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
        step("fairness-testing.train-text-networks")


rule search_text_networks:
    input:
        rules.prepare_tested_texts.output,
        rules.train_text_networks.output,
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{{network}}/{file}",
            file=READING.searched,
        ),
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
        step("fairness-testing.search-text-networks")


rule retrain_text_networks:
    input:
        rules.prepare_tested_texts.output,
        rules.train_text_networks.output,
        rules.search_text_networks.output,
    output:
        "results/fairness_testing/text-{texts}/{network}/retraining.tsv",
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
        step("fairness-testing.retrain-text-networks")


rule certify_text_networks:
    input:
        rules.prepare_tested_texts.output,
        rules.train_text_networks.output,
        rules.search_text_networks.output,
    output:
        "results/fairness_testing/text-{texts}/{network}/certified.tsv",
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
        step("fairness-testing.certify-text-networks")


rule measure_found_texts:
    input:
        READING.measured,
        list(READING.encoder.values()),
    output:
        expand(
            "results/fairness_testing/text-{{texts}}/{file}",
            file=READING.joined,
        ),
    conda:
        NEURAL if READING.is_neural else ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(3000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(
            folder="results/fairness_testing/text-{texts}",
            **part(READING.section, "models", "pairs"),
            encoder=READING.encoder,
            is_certified=READING.is_certified,
            seed=config["seed"],
        ),
    message:
        "{wildcards.texts}: measure how like their seeds the found texts are"
    shell:
        step("fairness-testing.measure-found-texts")
