# Cost of a call against how many users there are on its function, from the CSV
# of scripts/bench: gnuplot -e "csv='...'; svg='...'" users.gnuplot
set datafile separator ','
set terminal svg size 800,500 dynamic background rgb 'white'
set output svg
set logscale xy
set xlabel 'users of the function'
set ylabel 'instructions a call'
set key left top
set grid
# The number of users in a row's name: kretprobe*8, or 1 without one.
users(row) = strstrt(row, '*') ? real(row[strstrt(row, '*') + 1:]) : 1
of(row, kind, one) = row eq one || row[1:strlen(kind) + 1] eq kind.'*'
plot for [c = 2:3] for [k in 'kretprobe fprobe graph'] csv \
	using (of(strcol(1), k, k eq 'fprobe' ? 'fprobe-exit' : k) ? users(strcol(1)) : NaN):(column(c)) \
	smooth unique with linespoints dashtype (c == 2 ? 2 : 1) \
	lc (k eq 'kretprobe' ? 1 : k eq 'fprobe' ? 2 : 3) \
	title k.(c == 2 ? ', base' : ', series')
