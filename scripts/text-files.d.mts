export declare const isTextFile: (path: string) => boolean;
export declare const TEXT_LOADERS: Readonly<Record<string, "text">>;
export declare const textModule: (text: string) => string;
