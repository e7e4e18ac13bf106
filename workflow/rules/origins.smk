from biaslab.origins.grid import expansion
from biaslab.origins.grid.analyses import rule_files
from biaslab.origins.sets.names import BASELINE, PATTERN
from biaslab.origins.inputs import Inputs as OriginsInputs

ORIGINS = OriginsInputs(PLAN)


wildcard_constraints:
    setup="|".join(ORIGINS.setups),
    weat="|".join(config["origins"]["weats"]),
    set=PATTERN,
    batch=r"\d+",


include: "origins_embeddings.smk"


rule measure_baseline:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/baseline.tsv",
    priority: 3  # most trainings wait for it
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(ORIGINS.keys("bias", "permutations"), seed=config["seed"]),
    message:
        "{wildcards.setup}: measure the baselines' bias"
    shell:
        step("origins.measure-baseline")


for file in rule_files():

    include: file


rule origins:
    input:
        PLAN.report_files("origins"),
        ORIGINS.pages(),
        ORIGINS.results(),
    message:
        "all tables and figures of the origins of bias"
