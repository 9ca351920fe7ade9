# Copies of the core for bmc.c: small chunks, and each word by name.
s/4096UL$/(N * 64UL)/
s/8192UL$/(N * 128UL)/
/READ_ONCE/!s/\(\(struct fgraph_entry \*\)rec\)->frame|\<((c|next)->end|(frame|than)->retp)\>/READ_ONCE(&)/g
s/\<(new->(head|end)) = (.*);/store((unsigned long *)\&\1, (unsigned long)(\3));/
