# Makes the copies of fgraph_stack.[ch] for order-reader.c: these members are constant once other
# CPUs can see them, so the core reads them like other variables.
/(st->first|c->end) = /!s/\<(st->first|c->end)\>/READ_ONCE(&)/g
