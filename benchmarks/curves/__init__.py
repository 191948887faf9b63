"""The papers' curves as data: accuracy against epsilon, shares of a budget, numbers of trees and of rows."""
