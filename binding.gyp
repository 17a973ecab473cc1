# The native part: the workload, the recorder, what asks for metrics of chips, and a benchmark. None of it is a Node add-on;
# node-gyp is here as a build tool that every npm installation can get. See native/build.mjs.
{
  'includes': ['native/settings.gypi'],
  'targets': [
    {
      'target_name': 'common',
      'type': 'static_library',
      'sources': ['<!@("<(python)" native/detect.py sources native/common)'],
    },
    {
      # Everything of shallow_resnet but its main().
      'target_name': 'shallow_resnet_core',
      'type': 'static_library',
      'sources': [
        '<!@("<(python)" native/detect.py sources native/shallow_resnet)',
        '<!@("<(python)" native/detect.py sources native/shallow_resnet/cpu)',
      ],
      'sources!': ['native/shallow_resnet/main.cc', 'native/shallow_resnet/cuda_backend.cc'],
      'defines': ['HYDRACONF_CUDA=<(cuda)', 'HYDRACONF_CUDNN=<(cudnn)'],
      'conditions': [
        ['cuda==1', {
          'defines': ['HYDRACONF_CUDA_TARGETS="<(cuda_targets)"'],
          # Each path in one word with its option: gyp drops what is in a list already.
          'cflags_cc': ['-isystem<(cuda_include)'],
          'sources': [
            'native/shallow_resnet/cuda_backend.cc',
            '<!@("<(python)" native/detect.py sources native/shallow_resnet/cuda)',
            '<!@("<(python)" native/detect.py sources native/shallow_resnet/cuda .cu)',
          ],
          # An exclusion wins over an inclusion of the same list: this one takes it back.
          'sources/': [['include', 'cuda_backend\\.cc$']],
          'rules': [{
            'rule_name': 'nvcc',
            'extension': 'cu',
            'inputs': ['<!@("<(python)" native/detect.py sources native/shallow_resnet/cuda .hpp)'],
            'outputs': ['<(INTERMEDIATE_DIR)/<(RULE_INPUT_ROOT).cu.o'],
            'process_outputs_as_sources': 1,
            'message': 'Compiling <(RULE_INPUT_PATH) for <(cuda_targets)',
            'variables': {
              'conditions': [
                ['warnings_as_errors==1', {
                  'nvcc_warnings': ['-Werror', 'all-warnings', '-Xcompiler=-Wall,-Wextra,-Werror'],
                }, {
                  'nvcc_warnings': [],
                }],
              ],
            },
            # With line numbers, which cost nothing at run time: Nsight Compute's source page and
            # compute-sanitizer show the source.
            'action': [
              '<(nvcc)', '-c', '-std=c++17', '-O3', '-lineinfo', '-Inative', '--threads=0',
              '-Xcompiler=-fvisibility=hidden,-fPIC', '<@(nvcc_warnings)', '<@(cuda_gencode)',
              '<(RULE_INPUT_PATH)', '-o', '<@(_outputs)',
            ],
          }],
          # The runtime is linked in: the program starts on machines without CUDA, too.
          'link_settings': {
            'libraries': ['<(cuda_library)/libcudart_static.a', '-lrt', '-lpthread', '-ldl'],
          },
        }],
        ['cudnn==1', {
          'cflags_cc': ['-isystem<(cudnn_include)'],
          'sources': ['<!@("<(python)" native/detect.py sources native/shallow_resnet/cudnn)'],
          'link_settings': {
            'libraries': ['<(cudnn_library)/libcudnn.so.9'],
            # The old kind of search path: it also serves the libraries that cuDNN itself loads, cuBLAS
            # in a wheel or in the toolkit among them.
            'ldflags': [
              '-Wl,--disable-new-dtags',
              '-Wl,-rpath,<(cudnn_search)',
              '-Wl,-rpath,<(cuda_library)',
            ],
          },
        }],
      ],
    },
    {
      'target_name': 'shallow_resnet',
      'type': 'executable',
      'dependencies': ['shallow_resnet_core', 'common'],
      'sources': ['native/shallow_resnet/main.cc'],
    },
    {
      # Speed of the convolution beside the processor's own: run by bench/native-resnet.ts.
      'target_name': 'convolution_benchmark',
      'type': 'executable',
      'dependencies': ['shallow_resnet_core', 'common'],
      'sources': ['native/shallow_resnet/benchmark/convolution_benchmark.cc'],
    },
    {
      # What NVIDIA's library says about metrics and chips, in a process of its own.
      'target_name': 'chip_metrics',
      'type': 'executable',
      'sources': [
        '<!@("<(python)" native/detect.py sources native/chip_metrics)',
        'native/common/json_writer.cc',
      ],
    },
    {
      # Loaded into other programs through NVTX_INJECTION64_PATH and CUDA_INJECTION64_PATH.
      'target_name': 'region_recorder',
      'type': 'loadable_module',
      'sources': [
        '<!@("<(python)" native/detect.py sources native/region_recorder)',
        '<!@("<(python)" native/detect.py sources native/region_recorder/gpu)',
      ],
      # It lives in other people's processes: it throws nothing and needs only the C library, so
      # that it cannot meet another libstdc++ there.
      # And it stays when it is closed: threads, forks and CUPTI lead into it for as long as the process lives.
      # Bound when it is loaded: binding at the first call takes 2 KB of a stack that may be a small one, in a signal handler.
      'ldflags': ['-Wl,--as-needed', '-Wl,-z,nodelete', '-Wl,-z,now'],
      'cflags_cc': ['-fno-exceptions', '-fno-rtti'],
      'xcode_settings': {'GCC_ENABLE_CPP_EXCEPTIONS': 'NO', 'GCC_ENABLE_CPP_RTTI': 'NO'},
      # A condition, because node-gyp names modules *.node in one, which would win otherwise.
      'target_conditions': [
        ['1==1', {'product_extension': 'so'}],
      ],
    },
  ],
}
