// What every entry into the recorder leaves as the calling thread had it. The program did not ask for a profiler: to it
// each NVTX call is still the function without effects that it is when no tool is loaded.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <initializer_list>

namespace region_recorder {

// Each entry holds one, also those that seem to make no system call: the file may have to grow anywhere.
class [[nodiscard]] KeptErrno {
 public:
  KeptErrno() noexcept : before_(errno) {}
  ~KeptErrno() { errno = before_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int before_;
};

// No NVTX call is a cancellation point: pthread_cancel must not end a thread in an open() of the recorder, with its lock
// held, or in the middle of exit(). The request takes effect at the program's own next cancellation point.
class [[nodiscard]] NoCancellation {
 public:
  NoCancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_); }
  ~NoCancellation() {
    enable();
    restore_type();
  }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 protected:
  // In glibc 2.36 a request that waits for a thread of the asynchronous type would end it inside the second of these
  // calls without the result that pthread_join promises; inside the third, of restore_type(), it has it.
  void enable() noexcept {
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
    pthread_setcancelstate(state_, nullptr);
  }
  void restore_type() noexcept {
    if (type_ != PTHREAD_CANCEL_DEFERRED) pthread_setcanceltype(type_, nullptr);
    type_ = PTHREAD_CANCEL_DEFERRED;
  }

 private:
  int state_ = PTHREAD_CANCEL_ENABLE;
  int type_ = PTHREAD_CANCEL_DEFERRED;
};

// Signals wait until the end of the scope, so that no handler runs on a thread that holds a lock of the recorder: the
// handler might record, or wait for a thread that waits for that lock (garbage collectors suspend threads in handlers).
// Signals that the thread raises itself, by a fault or a system call that a seccomp filter traps, cannot wait: blocked,
// they would end the process.
class [[nodiscard]] NoSignals {
 public:
  NoSignals() noexcept {
    sigset_t most;
    sigfillset(&most);
    for (const int raised_by_the_thread : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
      sigdelset(&most, raised_by_the_thread);
    }
    blocked_ = pthread_sigmask(SIG_BLOCK, &most, &before_) == 0;
  }
  ~NoSignals() { restore(); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 protected:
  void restore() noexcept {
    // Where the first call was allowed, so is the second; a filter of system calls may think otherwise once.
    if (blocked_ && pthread_sigmask(SIG_SETMASK, &before_, nullptr) != 0) {
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    blocked_ = false;
  }

 private:
  sigset_t before_;
  bool blocked_;
};

// Both. A handler that leaves by siglongjmp finds cancellation as the program has it: it cannot run before it is so. What
// cancels the thread at the end finds the program's signal mask.
class [[nodiscard]] Undisturbed : NoSignals, NoCancellation {
 public:
  Undisturbed() = default;
  ~Undisturbed() {
    enable();
    restore();
  }
};

// Rounding mode, exception flags and masks. The recorder computes nothing with floating point; constructors of libraries
// that it loads may. Without fegetenv, which would need libm.
class [[nodiscard]] KeptFloatingPoint {
 public:
  KeptFloatingPoint() noexcept {
#if defined(__x86_64__)
    // Storing masks all exceptions of x87, loading brings them back.
    asm volatile("fnstenv %0\n\tfldenv %0" : "=m"(x87_));
    asm volatile("stmxcsr %0" : "=m"(sse_));
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(control_));
    asm volatile("mrs %0, fpsr" : "=r"(status_));
#endif
  }
  ~KeptFloatingPoint() {
#if defined(__x86_64__)
    asm volatile("fldenv %0" : : "m"(x87_));
    asm volatile("ldmxcsr %0" : : "m"(sse_));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" : : "r"(control_));
    asm volatile("msr fpsr, %0" : : "r"(status_));
#endif
  }
  KeptFloatingPoint(const KeptFloatingPoint&) = delete;
  KeptFloatingPoint& operator=(const KeptFloatingPoint&) = delete;

 private:
#if defined(__x86_64__)
  struct X87 {
    std::uint32_t words[7];
  };
  X87 x87_;
  std::uint32_t sse_;
#elif defined(__aarch64__)
  std::uint64_t control_;
  std::uint64_t status_;
#endif
};

// For entries that open files, load libraries or run at the program's end.
struct [[nodiscard]] KeptCallerState {
  KeptErrno error;
  KeptFloatingPoint floating_point;
  NoCancellation cancellation;
};

}  // namespace region_recorder
