/** Raised for everything that can go wrong while the native part is built; `message` is for people. */
export class NativeBuildError extends Error {
  constructor(message, log = "", hint = null) {
    super(message);
    this.name = "NativeBuildError";
    /** What node-gyp and the compiler printed. */
    this.log = log;
    /** What to do about it; null: see that the tools that are needed are there. */
    this.hint = hint;
  }
}
