// The scorecard shows the claims that hold all the words asked for, with the verdict and of the group chosen.
(function () {
  const controls = document.getElementById("filter"), rows = [...document.querySelectorAll(".scorecard tr[data-verdict]")];
  const words = document.getElementById("words"), count = document.getElementById("count");
  const [verdict, group] = ["verdict", "group"].map((id) => document.getElementById(id));

  function filter() {
    const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !asked.every((word) => text.includes(word))
        || (verdict.value && row.dataset.verdict !== verdict.value)
        || (group.value && row.dataset.group !== group.value);
    }
    for (const head of document.querySelectorAll(".scorecard tr[data-head]")) {
      head.hidden = !rows.some((row) => !row.hidden && row.dataset.group === head.dataset.head);
    }
    count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  }

  controls.hidden = false;
  controls.addEventListener("input", filter);
  filter();
})();
