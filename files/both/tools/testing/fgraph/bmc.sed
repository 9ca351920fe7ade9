# Makes the copies of fgraph_stack.[ch] for bmc.c: chunks are small, and all accesses
# to words that others may change go through READ_ONCE() or store().
s/4096UL$/(N * 64UL)/
s/8192UL$/(N * 128UL)/
/READ_ONCE/!s/\(\(struct fgraph_entry \*\)rec\)->frame|\<((c|next)->end|(frame|than)->retp)\>/READ_ONCE(&)/g
s/\<(new->(head|end)) = (.*);/store((unsigned long *)\&\1, (unsigned long)(\3));/
