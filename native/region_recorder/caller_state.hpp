// What every entry into the recorder leaves as the calling thread had it. The program did not ask for a profiler: to it
// each NVTX call is still the function without effects that it is when no tool is loaded.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

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
  NoCancellation() noexcept {
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
    if (type_ != PTHREAD_CANCEL_DEFERRED) await_request();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_);
  }
  ~NoCancellation() {
    // The type is the last: in setcancelstate of glibc 2.36 a thread of the asynchronous type would end without the
    // result that pthread_join promises.
    pthread_setcancelstate(state_, nullptr);
    if (type_ != PTHREAD_CANCEL_DEFERRED) pthread_setcanceltype(type_, nullptr);
  }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  // A thread of the asynchronous type may be ended right here. In glibc before 2.41 a request that was on its way to it
  // ends it later, too, in the first system call that is a cancellation point, although the state forbids that by then.
  // Such a call without effects waits for it while the state still allows it.
  static void await_request() noexcept {
#if defined(__GLIBC__)
    int state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcancelstate(state, nullptr);
    if (state == PTHREAD_CANCEL_ENABLE) close(-1);
#endif
  }

  int type_ = PTHREAD_CANCEL_DEFERRED;
  int state_ = PTHREAD_CANCEL_ENABLE;
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
  ~NoSignals() { restore(this); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

  // In the form of pthread_cleanup_push.
  static void restore(void* scope) noexcept {
    const NoSignals& self = *static_cast<NoSignals*>(scope);
    // Where the first call was allowed, so is the second; a filter of system calls may think otherwise once.
    if (self.blocked_ && pthread_sigmask(SIG_SETMASK, &self.before_, nullptr) != 0) {
      pthread_sigmask(SIG_SETMASK, &self.before_, nullptr);
    }
  }

 private:
  sigset_t before_;
  bool blocked_;
};

// Both. A handler that leaves by siglongjmp finds cancellation as the program has it: it cannot run before it is so. A
// thread that is cancelled at the beginning or at the end runs its cleanup with the program's signal mask.
class [[nodiscard]] Undisturbed {
 public:
  Undisturbed() noexcept {
    pthread_cleanup_push(NoSignals::restore, &signals_);
    cancellation_.emplace();
    pthread_cleanup_pop(0);
  }
  ~Undisturbed() {
    pthread_cleanup_push(NoSignals::restore, &signals_);
    cancellation_.reset();
    pthread_cleanup_pop(0);
  }

 private:
  NoSignals signals_;
  std::optional<NoCancellation> cancellation_;
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
