// Sort a table by the column whose heading is pressed; again, the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.querySelectorAll("thead th")];
  const worth = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
  const collator = new Intl.Collator("en", { numeric: true });
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const first = heading.dataset.first ?? "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = heading.ariaSort === first ? other : first;
      const way = order === "ascending" ? 1 : -1;
      headings.forEach((each) => each.removeAttribute("aria-sort"));
      heading.ariaSort = order;
      const body = table.tBodies[0];
      const compare = (a, b) => way * collator.compare(worth(a, column), worth(b, column));
      body.append(...[...body.rows].sort(compare));
    });
  });
}
