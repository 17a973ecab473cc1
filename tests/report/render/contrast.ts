/** Texts with less contrast to what is behind them than WCAG AA asks for, as `text: ratio`. */
export const FAINT = `(() => {
  const rgb = (color) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const ratio = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = [];
  const look = (element, text) => {
    const style = getComputedStyle(element);
    const color = element.closest("svg") === null ? style.color : style.fill;
    const found = ratio(rgb(color), behind(element));
    if (found < 4.5) faint.push(text + ": " + found.toFixed(2));
  };
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() !== "" && element.checkVisibility() && !["SCRIPT", "TITLE"].includes(element.tagName)) look(element, node.data);
  }
  const box = document.querySelector(".box");
  for (let hue = 0; box !== null && hue < 360; hue += 5) {
    box.style.setProperty("--hue", String(hue));
    look(box, "box of hue " + hue);
  }
  return faint;
})()`;
