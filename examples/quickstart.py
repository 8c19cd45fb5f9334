"""A crawl of some book shelves, split into four items."""

from __future__ import annotations

from shardsched import ShardingContext, sharded_job

SHELVES = [f"https://books.example/shelf/{number}" for number in range(1, 101)]


@sharded_job("books", cron="0 */5 * * * ?", items=4, item_params={0: "fiction", 1: "science"})
def crawl_books(ctx: ShardingContext) -> None:
    """Visit the shelves that belong to this item."""
    for url in ctx.mine(SHELVES):
        ctx.checkpoint()  # asked to stop, the run ends here, and another executor begins it again
        ctx.log.info("item %d of %d visits %s", ctx.item, ctx.items, url)
