// What only a browser can tell of a page; says it to the frame around it.
const faults = [];
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
for (const details of document.querySelectorAll("details")) details.open = true;

if (document.documentElement.scrollWidth > innerWidth) {
  const wide = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
  faults.push(`wider than the screen: ${document.documentElement.scrollWidth} > ${innerWidth}, ${wide[0]?.outerHTML.slice(0, 120)}`);
}

// Contrast of each text with what lies behind it.
const channel = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const rgb = (text) => text.match(/[\d.]+/g).map(Number);
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const colour = rgb(getComputedStyle(e).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const least = new Map();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || element.closest("script, style, title, desc, .skip")) continue;
  const style = getComputedStyle(element);
  const colour = rgb(element.closest("svg") ? style.fill : style.color);
  const [a, b] = [luminance(colour), luminance(ground(element))].sort((x, y) => y - x);
  const contrast = (a + 0.05) / (b + 0.05);
  if (contrast < 4.5) least.set(element.className.baseVal ?? element.className, contrast.toFixed(2));
}
for (const [name, contrast] of least) faults.push(`contrast ${contrast} of .${name}`);

// Labels of plots, with the fonts that are really there: inside, and apart.
for (const svg of document.querySelectorAll("svg")) {
  const frame = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll("text")].map((t) => [t.getBoundingClientRect(), t.textContent]);
  boxes.forEach(([box, text], i) => {
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      faults.push(`label ${text} leaves its plot`);
    for (const [other, name] of boxes.slice(i + 1)) {
      const over = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const under = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
      if (over > 1 && under > 4) faults.push(`labels ${text} and ${name} cover each other`);
    }
  });
}

// A heading that is pressed sorts its table, and says so.
for (const table of document.querySelectorAll("table.sortable")) {
  const button = table.querySelector("th button");
  button.click();
  if (button.closest("th").getAttribute("aria-sort") !== "ascending") faults.push("a heading does not sort");
}
scrollTo(0, 0);
for (const details of document.querySelectorAll("details")) details.open = false;
const told = faults.length ? [...new Set(faults)].slice(0, 8).join("; ") : "all is well";
parent.postMessage(`${dark ? "dark" : "light"}, ${told}`, "*");
