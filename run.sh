cd /tmp/h_runs && python3 -c "
import dsl,loops,healthy
dsl.save('/tmp/h_runs/all.jsonl')"
cd /work/main; . .venv/bin/activate; export PYTHONDONTWRITEBYTECODE=1
python benchmarks/detection/run.py /tmp/h_runs/all.jsonl --wrong > /tmp/h_runs/out.txt; grep -A1 '^[LH]_' /tmp/h_runs/out.txt | grep -v '^--' | paste - - ; grep -A1000 '^fp\|^fn' /tmp/h_runs/out.txt
