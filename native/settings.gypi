# How every native target is compiled. Included by binding.gyp.
{
  'variables': {
    # gyp decides conditions before it knows the variables beside them: those stand one level down.
    'variables': {
      # 1: build the NVTX client of our own even where NVIDIA's headers are present.
      'use_own_nvtx%': 0,
    },
    # 1: build the GPU backend. What nvcc needs then stands in the others: paths, `-gencode=...`
    # options, and the targets in words. native/build.mjs passes what native/detect.py found.
    'cuda%': 0,
    'nvcc%': 'nvcc',
    'cuda_include%': '',
    'cuda_library%': '',
    'cuda_gencode%': '',
    'cuda_targets%': '',
    # 1: and cuDNN's convolutions in it.
    'cudnn%': 0,
    'cudnn_include%': '',
    'cudnn_library%': '',
    # Directories, with colons between them.
    'cudnn_search%': '',
    # For example address,undefined: instrument everything for a check by hand.
    'sanitize%': '',
    # 0 where the package is installed: a compiler newer than this code may warn about new things.
    'warnings_as_errors%': 1,
    'package_version': '<!("<(python)" native/detect.py version)',
    'conditions': [
      ['use_own_nvtx==1', {
        'nvtx_include': '',
      }, {
        'nvtx_include': '<!("<(python)" native/detect.py nvtx-include)',
      }],
    ],
  },
  'target_defaults': {
    # Relative to this file.
    'include_dirs': ['.'],
    # Node's headers, which node-gyp adds: there are none (node-settings), and gyp does not quote blanks in such paths.
    'include_dirs/': [['exclude', '/node-settings/']],
    'defines': ['HYDRACONF_VERSION="<(package_version)"'],
    'default_configuration': 'Release',
    'configurations': {
      'Release': {
        # Frame pointers, for who profiles it.
        'cflags': ['-O3', '-fno-omit-frame-pointer'],
        'xcode_settings': {
          'GCC_OPTIMIZATION_LEVEL': '3',
          'GCC_DYNAMIC_NO_PIC': 'NO',
          'GCC_SYMBOLS_PRIVATE_EXTERN': 'YES',
        },
      },
    },
    'cflags': ['-fPIC', '-pthread', '-Wall', '-Wextra'],
    'cflags_cc': ['-std=gnu++17', '-Wshadow', '-Wconversion', '-fvisibility=hidden'],
    'ldflags': ['-pthread'],
    'xcode_settings': {
      'CLANG_CXX_LANGUAGE_STANDARD': 'gnu++17',
      'MACOSX_DEPLOYMENT_TARGET': '10.15',
      'WARNING_CFLAGS': ['-Wall', '-Wextra', '-Wshadow'],
    },
    'conditions': [
      ['warnings_as_errors==1', {
        'cflags': ['-Werror'],
      }],
      ['nvtx_include==""', {
        'defines': ['NVTX_OWN_CLIENT=1'],
      }, {
        'defines': ['NVTX_OWN_CLIENT=0'],
        # System headers: their warnings are not ours to fix.
        'cflags_cc': ['-isystem', '<(nvtx_include)'],
        'xcode_settings': {'OTHER_CPLUSPLUSFLAGS': ['-isystem', '<(nvtx_include)']},
      }],
      ['OS=="linux"', {
        # dlopen lives in libdl before glibc 2.34.
        'libraries': ['-ldl'],
      }],
      ['sanitize!=""', {
        'cflags_cc': ['-fsanitize=<(sanitize)', '-fno-sanitize-recover=all', '-g', '-O1'],
        'ldflags': ['-fsanitize=<(sanitize)'],
      }],
    ],
  },
}
