awk '{ sum += $1 } END { print sum }' numbers.txt > answer.txt
