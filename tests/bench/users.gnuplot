# Plots the instructions of a call against the number of users of its function, from the CSV
# of scripts/results plot: gnuplot -e "csv='...'; svg='...'" users.gnuplot
set datafile separator ','
set datafile missing NaN
set terminal svg size 800,500 dynamic background rgb 'white'
set output svg
set logscale xy
set xlabel 'users of the function'
set ylabel 'instructions of a call (x86_64)' noenhanced
set key left top
set grid
kinds = 'kretprobe fprobe graph'
kernels = '"stock 6.1" "stock 7.3" "the series"'
# The series has the full line.
dash(c) = c == 3 ? 1 : c + 1
plot for [c = 1:3] for [i = 1:3] csv \
	using (strcol(1) eq word(kinds, i) ? column(2) : NaN):c + 2 \
	with linespoints dashtype dash(c) linecolor i linewidth (c == 3 ? 2 : 1) \
	title word(kinds, i).', '.word(kernels, c)
