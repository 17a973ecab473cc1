// Some of the recorded searches; `searches.slow.ts` has all of them.
import { searchCases, someSearches } from "./searches.case.ts";

searchCases(someSearches());
