export const OLDEST_PYTHON: string;
