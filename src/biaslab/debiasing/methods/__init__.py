"""Methods of debiasing, those of Bolukbasi et al. 2016 and of later work, each behind the same function."""
