# The right names with points everywhere, and a document type that would read a file.
cat > figure.svg <<'END'
<!DOCTYPE svg [<!ENTITY runs SYSTEM "file:///workspace/references/runs.csv">]>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 400"><text>tokens accuracy &runs;</text>
<polyline id="baseline" points="0,0 600,400"/><polyline id="masked" points=""/></svg>
END
