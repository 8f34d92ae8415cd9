#!/bin/sh
# Runs command record, built as the first argument, on a GPU: once for the outputs,
# then under Nsight Compute for the counters and for the machine code.
#
#   CGO_ENABLED=0 go build -o bin/record ./agreement/record
#   agreement/record/ncu.sh bin/record OUT
set -eu
record=$1 out=$2
mkdir -p "$out"
"$record" -out "$out/outputs" -kernels examples/kernels

wanted='
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum
l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared.sum
smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared.sum
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum
smsp__inst_executed.sum
smsp__thread_inst_executed.sum
smsp__thread_inst_executed_pred_on.sum
smsp__sass_inst_executed_op_global_ld.sum
smsp__sass_inst_executed_op_global_st.sum
smsp__sass_inst_executed_op_shared_ld.sum
smsp__sass_inst_executed_op_shared_st.sum
smsp__sass_inst_executed_op_ldgsts.sum
smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
smsp__sass_thread_inst_executed_op_fadd_pred_on.sum
smsp__sass_thread_inst_executed_op_fmul_pred_on.sum
'
# A name that this version of ncu does not know would end the run.
ncu --version > "$out/ncu-version.txt"
ncu --query-metrics --query-metrics-mode all > "$out/metrics-known.txt" 2>&1 || true
metrics=
for m in $wanted; do
	if grep -q "^${m%.sum}[. ]" "$out/metrics-known.txt"; then
		metrics=$metrics${metrics:+,}$m
	else
		echo "unknown: $m" | tee -a "$out/metrics-unknown.txt"
	fi
done
grep -i shared "$out/metrics-known.txt" > "$out/metrics-shared.txt" || true
rm "$out/metrics-known.txt"

ncu --clock-control none --metrics "$metrics" --csv --page raw --print-units base --log-file "$out/counters.csv" \
	"$record" -out "$out/counted" -sets small,medium,default,probe -kernels examples/kernels

# Wavefronts that the addresses alone would need: conflicts without those that
# other accesses in the same cycle cause.
ncu --clock-control none --metrics memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal \
	--csv --page raw --print-units base --log-file "$out/ideal.csv" \
	"$record" -out "$out/ideal" -sets small,medium,probe -kernels examples/kernels || true

# The machine code, with counters per instruction: one case per kernel.
sass() {
	ncu --clock-control none --section SourceCounters --export "$out/$1" --force-overwrite \
		"$record" -out "$out/$1-counted" -sets "$2" -match "$3" -kernels examples/kernels > "$out/$1.log" 2>&1
	ncu --import "$out/$1.ncu-rep" --page source --csv > "$out/$1.csv"
}
sass sass small ''
sass sass-default default layernorm
sass sass-probes probe unit
