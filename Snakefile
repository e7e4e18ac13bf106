# biaslab: regenerates the tables and figures of fairness papers and audits their numbers.
#   snakemake --cores all                                             the embedded default (config.yaml)
#   snakemake --cores all --configfile workflow/presets/NAME.yaml     a preset, laid over config.yaml
include: "workflow/Snakefile"


rule everything:  # what is included sets no default target
    default_target: True
    input:
        rules.all.input,
    message:
        "everything is there"
