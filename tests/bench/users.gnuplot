# Plots the cost of a call against the number of users of its function, from the CSV of
# scripts/bench: gnuplot -e "csv='...'; svg='...'; kernels='stock ...'" users.gnuplot
set datafile separator ','
set datafile missing NaN
set terminal svg size 800,500 dynamic background rgb 'white'
set output svg
set logscale xy
set xlabel 'users of the function'
set ylabel 'instructions a call'
set key left top
set grid
# The number of users in a row's name, as in kretprobe*8, or 1 without a number.
users(row) = strstrt(row, '*') ? real(row[strstrt(row, '*') + 1:]) : 1
is(row, kind) = row eq kind || row eq kind.'-exit' || row[1:strlen(kind) + 1] eq kind.'*'
kinds = 'kretprobe fprobe graph'
# The series has the full line.
dash(c) = word(kernels, c) eq 'series' ? 1 : c + 1
plot for [c = 1:words(kernels)] for [i = 1:3] csv \
	using (is(strcol(1), word(kinds, i)) ? users(strcol(1)) : NaN):c + 1 \
	with linespoints dashtype dash(c) linecolor i \
	title word(kinds, i).', '.word(kernels, c)
