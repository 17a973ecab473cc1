// All recorded searches.
import { allSearches, searchCases } from "./searches.case.ts";

searchCases(allSearches());
