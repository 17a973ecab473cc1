import { expect, it } from "vitest";
import { checkReportText, createReportValidator } from "../../../src/report/index.ts";
import { bundleOf, resnet } from "../bundles.ts";

const validator = createReportValidator();
const text = JSON.stringify(bundleOf([resnet]), null, 2);

it("the text of a report that keeps to the contract has no issues", () => {
  expect(checkReportText(text, validator)).toEqual([]);
});

it("what breaks the contract is told with its line", () => {
  const line = text.split("\n").findIndex((one) => one.includes('"invocations": ')) + 1;
  const broken = text.replace(/"invocations": \d+/, '"invocations": "once"');
  expect(checkReportText(broken, validator)).toEqual([
    expect.objectContaining({
      pointer: expect.stringMatching(/^\/reports\/0\/.*invocations$/),
      line,
    }),
  ]);
});

it("what is no JSON is told with the place where it ends to be", () => {
  expect(checkReportText('{\n  "contract": ]', validator)).toEqual([
    expect.objectContaining({ message: expect.stringMatching(/^not JSON: /), line: 2, column: 15 }),
  ]);
});
