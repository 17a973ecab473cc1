/** Remedies for CUDA's usual errors, which tell what happened but seldom why. */

interface Known {
  /** Searched for in each of the last lines that the program printed. */
  readonly says: RegExp;
  readonly remedy: string;
}

const KNOWN: readonly Known[] = [
  {
    says: /CUPTI_ERROR_MULTIPLE_SUBSCRIBERS/,
    remedy:
      "the program uses its own profiler (torch.profiler, TensorFlow's), and CUPTI allows only one: disable it, or set pipeline.recorder.gpu=off",
  },
  {
    says: /CUDA driver version is insufficient for CUDA runtime version|API call is not supported in the installed CUDA driver/,
    remedy:
      "the driver is too old for the program's CUDA version: update the driver, or use the CUDA version that nvidia-smi shows or an older one",
  },
  {
    says: /no kernel image is available for execution on the device/,
    remedy:
      "the program was not built for this GPU; see its compute capability: nvidia-smi --query-gpu=compute_cap --format=csv",
  },
  {
    says: /libcuda\.so[.\d]*: cannot open shared object file|no CUDA-capable device is detected|No CUDA GPUs are available/,
    remedy:
      "no usable GPU: nvidia-smi must list one, and CUDA_VISIBLE_DEVICES must not hide it; a container needs --gpus all, a Slurm job --gres=gpu:1",
  },
  {
    says: /libcudnn\w*\.so[.\d]*: cannot open shared object file|CUDNN_STATUS_\w*VERSION_MISMATCH|Cannot load symbol cudnn/,
    remedy:
      "cuDNN's libraries are missing or of mixed versions: LD_LIBRARY_PATH must name a single installation",
  },
  {
    says: /CUDA out of memory|CUDA error: out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY/,
    remedy: "the GPU's memory is full: nvidia-smi shows who uses it; or use a smaller batch",
  },
  {
    says: /an illegal memory access was encountered|CUDA_ERROR_ILLEGAL_ADDRESS/,
    remedy: "a kernel reads or writes out of bounds: compute-sanitizer PROG finds it",
  },
  {
    says: /uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE/,
    remedy: "the GPU's memory is faulty: check nvidia-smi -q -d ECC, and use another GPU",
  },
];

/** The remedy for the last line that matches, since programs print the cause last; null if none does. */
export function remedyForProgram(lines: readonly string[]): string | null {
  for (const line of lines.toReversed()) {
    const known = KNOWN.find(({ says }) => says.test(line));
    if (known !== undefined) return known.remedy;
  }
  return null;
}
