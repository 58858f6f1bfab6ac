// Orders of a shop with two indexes: by customer and by total. It shows pages in the order of row
// keys, a query that both indexes could serve, and a result in the order of an index.
//
// A page ends with the key of its last row, and the next one begins after it: the smallest key
// after K is K with a zero byte at its end. So each page costs the same, and rows
// that are added meanwhile neither repeat nor hide others, as an offset would make them.
//
//   build/example_orders DIRECTORY
#include <tandem/tandem.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

struct Order {
  std::string number;  // The row key: orders sort by it.
  std::string customer;
  std::string total;  // In cents.
};

tandem::TableOptions OrdersTable() {
  tandem::TableOptions table;
  table.name = "orders";
  table.families = {{.name = "d"}};
  // A value that does not fit its index's type is refused when it is written.
  table.indexes = {
      {.name = "by_customer",
       .columns = {{.family = "d", .qualifier = "customer", .type = tandem::ColumnType::kText}}},
      {.name = "by_total",
       .columns = {{.family = "d", .qualifier = "total", .type = tandem::ColumnType::kInt64}}}};
  return table;
}

class Orders {
 public:
  explicit Orders(tandem::Database* database) : database_(database) {}

  /// All of them or none.
  tandem::Status Add(const std::vector<Order>& orders) {
    tandem::WriteBatch batch;
    for (const Order& order : orders) {
      const tandem::ColumnValue columns[] = {{"customer", order.customer}, {"total", order.total}};
      batch.PutColumns("orders", order.number, "d", columns);
    }
    return database_->Write({.durability = tandem::Durability::kSynced}, batch);
  }

  /// At most `count` orders after the number `after`; empty: from the first.
  tandem::Result<std::vector<Order>> Page(std::string_view after, uint64_t count) {
    tandem::ScanOptions scan;
    if (!after.empty()) scan.start = std::string(after) + '\0';
    scan.limit = count;
    return Collect(database_->Scan({}, "orders", scan));
  }

  /// What satisfies a condition such as "customer = 'ann' AND total >= 1000": the largest values of
  /// an index first where one is named, else by number.
  tandem::Result<std::vector<Order>> Find(std::string_view condition, std::string order_by = {}) {
    const auto predicate = tandem::Predicate::Parse(condition);
    if (!predicate) return predicate.error();
    tandem::QueryOptions query;
    query.order_by = std::move(order_by);
    query.descending = !query.order_by.empty();
    return Collect(database_->Query({}, "orders", *predicate, query));
  }

 private:
  static tandem::Result<std::vector<Order>> Collect(tandem::Result<tandem::Cursor> cursor) {
    if (!cursor) return cursor.error();
    std::vector<Order> orders;
    for (const tandem::RowView& row : *cursor) {
      // The views go with the next row: what is kept is copied.
      orders.push_back({.number = std::string(row.key()),
                        .customer = std::string(row.Find("d", "customer").value_or("")),
                        .total = std::string(row.Find("d", "total").value_or(""))});
    }
    if (!cursor->status().ok()) return cursor->status();
    return orders;
  }

  tandem::Database* database_;
};

void Print(std::string_view title, const std::vector<Order>& orders) {
  std::printf("%.*s\n", static_cast<int>(title.size()), title.data());
  for (const Order& order : orders) {
    std::printf("  %s %s %s\n", order.number.c_str(), order.customer.c_str(), order.total.c_str());
  }
}

std::vector<Order> SomeOrders() {
  const char* const customers[] = {"ann", "bob", "eva"};
  std::vector<Order> orders;
  for (int i = 1; i <= 10; ++i) {
    char number[16];
    // Of fixed width, so that the order of the bytes is the order of the numbers.
    std::snprintf(number, sizeof(number), "2026-%04d", i);
    orders.push_back({number, customers[i % 3], std::to_string(i * 700 % 3000)});
  }
  return orders;
}

tandem::Status Run(tandem::Database* database) {
  if (auto status = database->CreateTable(OrdersTable()); !status.ok()) return status;
  Orders orders(database);
  if (auto status = orders.Add(SomeOrders()); !status.ok()) return status;

  std::string last;
  for (int number = 1;; ++number) {
    const auto page = orders.Page(last, 4);
    if (!page) return page.error();
    if (page->empty()) break;
    Print("page " + std::to_string(number), *page);
    last = page->back().number;
  }
  for (const char* order_by : {"", "by_total"}) {
    const auto found = orders.Find("customer = 'bob' AND total >= 500", order_by);
    if (!found) return found.error();
    Print(*order_by == '\0' ? "bob's from 500" : "bob's from 500, largest first", *found);
  }
  const auto refused = orders.Add({{"2026-9999", "ann", "a lot"}});
  std::printf("refused: %s\n", refused.ToString().c_str());
  return database->Close();
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", arguments[0]);
    return 2;
  }
  tandem::Options options;
  options.create_if_missing = true;
  const auto database = tandem::Database::Open(arguments[1], options);
  const tandem::Status status = database ? Run(database->get()) : database.error();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
